!> The words of kernel metadata, of both generations.
!>
!> A kernel type holds metadata in components that are initialised from these names, so that a
!> misspelt name is an error of compilation. The values are arbitrary; within a group they
!> differ. Nothing reads them at run time: a code generator reads the source text.
!>
!> The 2019 form, as in arg_type(gh_field, gh_inc, w1), and today's, as in
!> arg_type(GH_FIELD, GH_REAL, GH_INC, W1), are both structure constructors of arg_type, whose
!> components therefore have the names of today's form and defaults after the second.
module argument_mod

  use fs_continuity_mod, only: W0, W1, W2, W2H, W2V, W2broken, W2Hbroken, W2trace, W2Htrace, &
                               W2Vtrace, W3, Wtheta, Wchi

  implicit none
  private

  public :: W0, W1, W2, W2H, W2V, W2broken, W2Hbroken, W2trace, W2Htrace, W2Vtrace
  public :: W3, Wtheta, Wchi

  ! Argument types
  integer, parameter, public :: GH_FIELD = 101
  integer, parameter, public :: GH_OPERATOR = 102
  integer, parameter, public :: GH_COLUMNWISE_OPERATOR = 103
  integer, parameter, public :: GH_SCALAR = 104
  integer, parameter, public :: GH_SCALAR_ARRAY = 105

  ! Data types; GH_REAL and GH_INTEGER are argument types in the 2019 form
  integer, parameter, public :: GH_REAL = 201
  integer, parameter, public :: GH_INTEGER = 202
  integer, parameter, public :: GH_LOGICAL = 203

  ! Accesses; GH_SUM is the 2019 name of a reduction
  integer, parameter, public :: GH_READ = 301
  integer, parameter, public :: GH_WRITE = 302
  integer, parameter, public :: GH_READWRITE = 303
  integer, parameter, public :: GH_INC = 304
  integer, parameter, public :: GH_READINC = 305
  integer, parameter, public :: GH_REDUCTION = 306
  integer, parameter, public :: GH_SUM = 307
  integer, parameter, public :: GH_MIN = 308
  integer, parameter, public :: GH_MAX = 309

  ! Function spaces that stand for any of a class
  integer, parameter, public :: ANY_W2 = 401
  integer, parameter, public :: ANY_SPACE_1 = 402
  integer, parameter, public :: ANY_SPACE_2 = 403
  integer, parameter, public :: ANY_SPACE_3 = 404
  integer, parameter, public :: ANY_SPACE_4 = 405
  integer, parameter, public :: ANY_SPACE_5 = 406
  integer, parameter, public :: ANY_SPACE_6 = 407
  integer, parameter, public :: ANY_SPACE_7 = 408
  integer, parameter, public :: ANY_SPACE_8 = 409
  integer, parameter, public :: ANY_SPACE_9 = 410
  integer, parameter, public :: ANY_SPACE_10 = 411
  integer, parameter, public :: ANY_DISCONTINUOUS_SPACE_1 = 412
  integer, parameter, public :: ANY_DISCONTINUOUS_SPACE_2 = 413
  integer, parameter, public :: ANY_DISCONTINUOUS_SPACE_3 = 414
  integer, parameter, public :: ANY_DISCONTINUOUS_SPACE_4 = 415
  integer, parameter, public :: ANY_DISCONTINUOUS_SPACE_5 = 416
  integer, parameter, public :: ANY_DISCONTINUOUS_SPACE_6 = 417
  integer, parameter, public :: ANY_DISCONTINUOUS_SPACE_7 = 418
  integer, parameter, public :: ANY_DISCONTINUOUS_SPACE_8 = 419
  integer, parameter, public :: ANY_DISCONTINUOUS_SPACE_9 = 420
  integer, parameter, public :: ANY_DISCONTINUOUS_SPACE_10 = 421
  integer, parameter, public :: ANY_DISCONTINUOUS_SPACE_11 = 422
  integer, parameter, public :: ANY_DISCONTINUOUS_SPACE_12 = 423
  integer, parameter, public :: ANY_DISCONTINUOUS_SPACE_13 = 424
  integer, parameter, public :: ANY_DISCONTINUOUS_SPACE_14 = 425
  integer, parameter, public :: ANY_DISCONTINUOUS_SPACE_15 = 426
  integer, parameter, public :: ANY_DISCONTINUOUS_SPACE_16 = 427
  integer, parameter, public :: ANY_DISCONTINUOUS_SPACE_17 = 428
  integer, parameter, public :: ANY_DISCONTINUOUS_SPACE_18 = 429
  integer, parameter, public :: ANY_DISCONTINUOUS_SPACE_19 = 430
  integer, parameter, public :: ANY_DISCONTINUOUS_SPACE_20 = 431

  ! Stencil shapes
  integer, parameter, public :: X1D = 1
  integer, parameter, public :: Y1D = 2
  integer, parameter, public :: XORY1D = 3
  integer, parameter, public :: CROSS = 4
  integer, parameter, public :: CROSS2D = 5
  integer, parameter, public :: REGION = 6

  !> STENCIL(shape) names a stencil in an entry of metadata.
  integer, parameter, public :: STENCIL(6) = [501, 502, 503, 504, 505, 506]

  !> Says that a kernel is called for those cells only where a field is above 0.
  integer, parameter, public :: CELL_MASK = 551

  ! Meshes of an inter-grid kernel
  integer, parameter, public :: GH_FINE = 601
  integer, parameter, public :: GH_COARSE = 602

  ! What a kernel asks of a function space; GH_ORIENTATION is of 2019 only
  integer, parameter, public :: GH_BASIS = 701
  integer, parameter, public :: GH_DIFF_BASIS = 702
  integer, parameter, public :: GH_ORIENTATION = 703

  ! Where basis functions are evaluated
  integer, parameter, public :: GH_QUADRATURE_XYOZ = 751
  integer, parameter, public :: GH_QUADRATURE_XYZ = 752
  integer, parameter, public :: GH_QUADRATURE_XOYOZ = 753
  integer, parameter, public :: GH_QUADRATURE_FACE = 754
  integer, parameter, public :: GH_QUADRATURE_EDGE = 755
  integer, parameter, public :: GH_EVALUATOR = 756

  ! Reference-element data
  integer, parameter, public :: normals_to_faces = 801
  integer, parameter, public :: normals_to_horizontal_faces = 802
  integer, parameter, public :: normals_to_vertical_faces = 803
  integer, parameter, public :: outward_normals_to_faces = 804
  integer, parameter, public :: outward_normals_to_horizontal_faces = 805
  integer, parameter, public :: outward_normals_to_vertical_faces = 806

  ! Mesh data
  integer, parameter, public :: adjacent_face = 851

  ! What a kernel operates on, today's names
  integer, parameter, public :: CELL_COLUMN = 901
  integer, parameter, public :: OWNED_CELL_COLUMN = 902
  integer, parameter, public :: HALO_CELL_COLUMN = 903
  integer, parameter, public :: OWNED_AND_HALO_CELL_COLUMN = 904
  integer, parameter, public :: DOMAIN = 905
  integer, parameter, public :: DOF = 906
  integer, parameter, public :: OWNED_DOF = 907
  integer, parameter, public :: OWNED_AND_HALO_DOF = 908

  ! What a kernel iterates over, 2019 names
  integer, parameter, public :: CELLS = 951
  integer, parameter, public :: DOFS = 952

  !> Length of the expressions given for nlevels and ndata.
  integer, parameter :: expression_length = 64

  !> One argument of a kernel.
  type, public :: arg_type
    integer :: argument_type
    integer :: data_type
    integer :: argument_access = -1
    integer :: fspace = -1
    integer :: fspace_from = -1
    integer :: stencil_map = -1
    integer :: mesh_arg = -1
    character(expression_length) :: nlevels = ''
    character(expression_length) :: nlayers = ''
    character(expression_length) :: ndata = ''
  end type arg_type

  !> What a kernel asks of one function space.
  type, public :: func_type
    integer :: fspace
    integer :: fspace_property
    integer :: fspace_property_2 = -1
    integer :: fspace_property_3 = -1
  end type func_type

  !> A property of the reference element that a kernel asks for.
  type, public :: reference_element_data_type
    integer :: reference_element_data_item
  end type reference_element_data_type

  !> A property of the mesh that a kernel asks for.
  type, public :: mesh_data_type
    integer :: mesh_data_item
  end type mesh_data_type

end module argument_mod
