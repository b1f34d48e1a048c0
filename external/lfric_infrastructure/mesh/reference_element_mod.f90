!> The reference element: the unit cube, the order of its entities, and its directions.
!>
!> A normal or a tangent points in the sense in which the basis functions are positive; an
!> outward normal points out of the cell. Horizontal faces are those reached by moving in the
!> horizontal (W, S, E, N), vertical faces those reached by moving in the vertical (B, T).
module reference_element_mod

  use constants_mod, only: i_def, r_def

  implicit none
  private

  ! Places of the faces
  integer(i_def), parameter, public :: W = 1, S = 2, E = 3, N = 4, B = 5, T = 6

  ! Places of the edges
  integer(i_def), parameter, public :: WB = 1, SB = 2, EB = 3, NB = 4
  integer(i_def), parameter, public :: SW = 5, SE = 6, NE = 7, NW = 8
  integer(i_def), parameter, public :: WT = 9, ST = 10, ET = 11, NT = 12

  ! Places of the vertices
  integer(i_def), parameter, public :: SWB = 1, SEB = 2, NEB = 3, NWB = 4
  integer(i_def), parameter, public :: SWT = 5, SET = 6, NET = 7, NWT = 8

  ! Labels of what a dof belongs to: the volume, or an offset plus the place of a face, an edge or a
  ! vertex
  integer(i_def), parameter, public :: V = 1
  integer(i_def), parameter, public :: FACE_OFFSET = 1000
  integer(i_def), parameter, public :: EDGE_OFFSET = 2000
  integer(i_def), parameter, public :: VERTEX_OFFSET = 3000

  !> A cell shape: coordinates and directions of its vertices, edges and faces, (3, entity).
  type, abstract, public :: reference_element_type
    private
    integer(i_def) :: number_2d_vertices = 0
    integer(i_def) :: number_2d_edges = 0
    real(r_def), allocatable :: vertices(:, :)
    real(r_def), allocatable :: edge_centres(:, :)
    real(r_def), allocatable :: face_centres(:, :)
    real(r_def), allocatable :: tangents(:, :)
    real(r_def), allocatable :: normals(:, :)
    real(r_def), allocatable :: outward_normals(:, :)
    integer(i_def), allocatable :: edges_on_face(:, :)
  contains
    procedure, non_overridable, public :: get_number_2d_vertices
    procedure, non_overridable, public :: get_number_2d_edges
    procedure, non_overridable, public :: get_number_vertices
    procedure, non_overridable, public :: get_number_edges
    procedure, non_overridable, public :: get_number_horizontal_edges
    procedure, non_overridable, public :: get_number_vertical_edges
    procedure, non_overridable, public :: get_number_faces
    procedure, non_overridable, public :: get_number_horizontal_faces
    procedure, non_overridable, public :: get_number_vertical_faces
    procedure, non_overridable, public :: get_number_verts_per_edge
    procedure, non_overridable, public :: get_vertex_entity
    procedure, non_overridable, public :: get_edge_entity
    procedure, non_overridable, public :: get_face_entity
    procedure, non_overridable, public :: get_vertex
    procedure, non_overridable, public :: get_vertex_coordinates
    procedure, non_overridable, public :: get_edge_centre_coordinates
    procedure, non_overridable, public :: get_face_centre_coordinates
    procedure, non_overridable, public :: get_volume_centre_coordinates
    procedure, non_overridable, public :: get_edge_on_face
    procedure, non_overridable, public :: get_tangent_to_edge
    procedure, non_overridable, public :: get_normal_to_face
    procedure, non_overridable, public :: get_normals_to_faces
    procedure, non_overridable, public :: get_normals_to_horizontal_faces
    procedure, non_overridable, public :: get_normals_to_vertical_faces
    procedure, non_overridable, public :: get_outward_normal_to_face
    procedure, non_overridable, public :: get_outward_normals_to_faces
    procedure, non_overridable, public :: get_outward_normals_to_horizontal_faces
    procedure, non_overridable, public :: get_outward_normals_to_vertical_faces
  end type reference_element_type

  !> The unit cube.
  type, extends(reference_element_type), public :: reference_cube_type
  end type reference_cube_type

  interface reference_cube_type
    module procedure new_reference_cube
  end interface reference_cube_type

  real(r_def), parameter :: x_direction(3) = [1.0_r_def, 0.0_r_def, 0.0_r_def]
  real(r_def), parameter :: y_direction(3) = [0.0_r_def, 1.0_r_def, 0.0_r_def]
  real(r_def), parameter :: z_direction(3) = [0.0_r_def, 0.0_r_def, 1.0_r_def]

contains

  !> Return the unit cube.
  function new_reference_cube() result(cube)
    type(reference_cube_type) :: cube

    cube%number_2d_vertices = 4
    cube%number_2d_edges = 4
    allocate (cube%vertices, source=real(reshape( &
      [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, &
       0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1], [3, 8]), r_def))
    allocate (cube%edge_centres, source=0.5_r_def * real(reshape( &
      [0, 1, 0, 1, 0, 0, 2, 1, 0, 1, 2, 0, &
       0, 0, 1, 2, 0, 1, 2, 2, 1, 0, 2, 1, &
       0, 1, 2, 1, 0, 2, 2, 1, 2, 1, 2, 2], [3, 12]), r_def))
    allocate (cube%face_centres, source=0.5_r_def * real(reshape( &
      [0, 1, 1, 1, 0, 1, 2, 1, 1, 1, 2, 1, 1, 1, 0, 1, 1, 2], [3, 6]), r_def))
    allocate (cube%tangents, source=reshape( &
      [y_direction, x_direction, y_direction, x_direction, &
       z_direction, z_direction, z_direction, z_direction, &
       y_direction, x_direction, y_direction, x_direction], [3, 12]))
    allocate (cube%normals, source=reshape( &
      [x_direction, -y_direction, x_direction, -y_direction, z_direction, z_direction], [3, 6]))
    allocate (cube%outward_normals, source=reshape( &
      [-x_direction, -y_direction, x_direction, y_direction, -z_direction, z_direction], [3, 6]))
    allocate (cube%edges_on_face, source=reshape( &
      [WB, SW, WT, NW, SB, SE, ST, SW, EB, NE, ET, SE, &
       NB, NE, NT, NW, WB, SB, EB, NB, WT, ST, ET, NT], [4, 6]))
  end function new_reference_cube

  !> Return the number of vertices of the horizontal cross-section.
  pure function get_number_2d_vertices(this)
    class(reference_element_type), intent(in) :: this
    integer(i_def) :: get_number_2d_vertices

    get_number_2d_vertices = this%number_2d_vertices
  end function get_number_2d_vertices

  !> Return the number of edges of the horizontal cross-section.
  pure function get_number_2d_edges(this)
    class(reference_element_type), intent(in) :: this
    integer(i_def) :: get_number_2d_edges

    get_number_2d_edges = this%number_2d_edges
  end function get_number_2d_edges

  !> Return the number of vertices.
  pure function get_number_vertices(this)
    class(reference_element_type), intent(in) :: this
    integer(i_def) :: get_number_vertices

    get_number_vertices = size(this%vertices, 2, i_def)
  end function get_number_vertices

  !> Return the number of edges.
  pure function get_number_edges(this)
    class(reference_element_type), intent(in) :: this
    integer(i_def) :: get_number_edges

    get_number_edges = size(this%edge_centres, 2, i_def)
  end function get_number_edges

  !> Return the number of edges that lie in the top or the bottom.
  pure function get_number_horizontal_edges(this)
    class(reference_element_type), intent(in) :: this
    integer(i_def) :: get_number_horizontal_edges

    get_number_horizontal_edges = 2 * this%number_2d_edges
  end function get_number_horizontal_edges

  !> Return the number of edges from bottom to top.
  pure function get_number_vertical_edges(this)
    class(reference_element_type), intent(in) :: this
    integer(i_def) :: get_number_vertical_edges

    get_number_vertical_edges = this%number_2d_vertices
  end function get_number_vertical_edges

  !> Return the number of faces.
  pure function get_number_faces(this)
    class(reference_element_type), intent(in) :: this
    integer(i_def) :: get_number_faces

    get_number_faces = size(this%face_centres, 2, i_def)
  end function get_number_faces

  !> Return the number of faces at the sides.
  pure function get_number_horizontal_faces(this)
    class(reference_element_type), intent(in) :: this
    integer(i_def) :: get_number_horizontal_faces

    get_number_horizontal_faces = this%number_2d_edges
  end function get_number_horizontal_faces

  !> Return the number of faces at the bottom and the top.
  pure function get_number_vertical_faces(this)
    class(reference_element_type), intent(in) :: this
    integer(i_def) :: get_number_vertical_faces

    get_number_vertical_faces = size(this%face_centres, 2, i_def) - this%number_2d_edges
  end function get_number_vertical_faces

  !> Return the number of vertices of an edge.
  pure function get_number_verts_per_edge(this)
    class(reference_element_type), intent(in) :: this
    integer(i_def) :: get_number_verts_per_edge

    get_number_verts_per_edge = 2
  end function get_number_verts_per_edge

  !> Return the label of a vertex.
  pure function get_vertex_entity(this, vertex_index)
    class(reference_element_type), intent(in) :: this
    integer(i_def), intent(in) :: vertex_index
    integer(i_def) :: get_vertex_entity

    get_vertex_entity = VERTEX_OFFSET + vertex_index
  end function get_vertex_entity

  !> Return the label of an edge.
  pure function get_edge_entity(this, edge_index)
    class(reference_element_type), intent(in) :: this
    integer(i_def), intent(in) :: edge_index
    integer(i_def) :: get_edge_entity

    get_edge_entity = EDGE_OFFSET + edge_index
  end function get_edge_entity

  !> Return the label of a face.
  pure function get_face_entity(this, face_index)
    class(reference_element_type), intent(in) :: this
    integer(i_def), intent(in) :: face_index
    integer(i_def) :: get_face_entity

    get_face_entity = FACE_OFFSET + face_index
  end function get_face_entity

  !> Return the coordinates of one vertex.
  pure function get_vertex(this, vertex_index)
    class(reference_element_type), intent(in) :: this
    integer(i_def), intent(in) :: vertex_index
    real(r_def) :: get_vertex(3)

    get_vertex = this%vertices(:, vertex_index)
  end function get_vertex

  !> Return the coordinates of the vertices, (vertex, 3).
  subroutine get_vertex_coordinates(this, vertices)
    class(reference_element_type), intent(in) :: this
    real(r_def), allocatable, intent(out) :: vertices(:, :)

    allocate (vertices, source=transpose(this%vertices))
  end subroutine get_vertex_coordinates

  !> Return the coordinates of the middle of the edges, (edge, 3).
  subroutine get_edge_centre_coordinates(this, edges)
    class(reference_element_type), intent(in) :: this
    real(r_def), allocatable, intent(out) :: edges(:, :)

    allocate (edges, source=transpose(this%edge_centres))
  end subroutine get_edge_centre_coordinates

  !> Return the coordinates of the middle of the faces, (face, 3).
  subroutine get_face_centre_coordinates(this, faces)
    class(reference_element_type), intent(in) :: this
    real(r_def), allocatable, intent(out) :: faces(:, :)

    allocate (faces, source=transpose(this%face_centres))
  end subroutine get_face_centre_coordinates

  !> Return the coordinates of the middle of the cell, (1, 3).
  subroutine get_volume_centre_coordinates(this, volume)
    class(reference_element_type), intent(in) :: this
    real(r_def), allocatable, intent(out) :: volume(:, :)

    allocate (volume(1, 3))
    volume(1, :) = sum(this%vertices, 2) / real(size(this%vertices, 2), r_def)
  end subroutine get_volume_centre_coordinates

  !> Return the places of the four edges of one face.
  pure subroutine get_edge_on_face(this, face_index, edges)
    class(reference_element_type), intent(in) :: this
    integer(i_def), intent(in) :: face_index
    integer(i_def), intent(out) :: edges(4)

    edges = this%edges_on_face(:, face_index)
  end subroutine get_edge_on_face

  !> Return the tangent of one edge.
  pure subroutine get_tangent_to_edge(this, edge_index, tangent)
    class(reference_element_type), intent(in) :: this
    integer(i_def), intent(in) :: edge_index
    real(r_def), intent(out) :: tangent(3)

    tangent = this%tangents(:, edge_index)
  end subroutine get_tangent_to_edge

  !> Return the normal of one face.
  pure subroutine get_normal_to_face(this, face_index, normal)
    class(reference_element_type), intent(in) :: this
    integer(i_def), intent(in) :: face_index
    real(r_def), intent(out) :: normal(3)

    normal = this%normals(:, face_index)
  end subroutine get_normal_to_face

  !> Return the normals of all faces, (3, face).
  subroutine get_normals_to_faces(this, normals_to_faces)
    class(reference_element_type), intent(in) :: this
    real(r_def), allocatable, intent(out) :: normals_to_faces(:, :)

    allocate (normals_to_faces, source=this%normals)
  end subroutine get_normals_to_faces

  !> Return the normals of the faces at the sides, (3, face).
  subroutine get_normals_to_horizontal_faces(this, normals_to_horizontal_faces)
    class(reference_element_type), intent(in) :: this
    real(r_def), allocatable, intent(out) :: normals_to_horizontal_faces(:, :)

    allocate (normals_to_horizontal_faces, source=this%normals(:, :this%number_2d_edges))
  end subroutine get_normals_to_horizontal_faces

  !> Return the normals of the bottom and the top, (3, face).
  subroutine get_normals_to_vertical_faces(this, normals_to_vertical_faces)
    class(reference_element_type), intent(in) :: this
    real(r_def), allocatable, intent(out) :: normals_to_vertical_faces(:, :)

    allocate (normals_to_vertical_faces, source=this%normals(:, this%number_2d_edges + 1:))
  end subroutine get_normals_to_vertical_faces

  !> Return the outward normal of one face.
  pure subroutine get_outward_normal_to_face(this, face_index, normal)
    class(reference_element_type), intent(in) :: this
    integer(i_def), intent(in) :: face_index
    real(r_def), intent(out) :: normal(3)

    normal = this%outward_normals(:, face_index)
  end subroutine get_outward_normal_to_face

  !> Return the outward normals of all faces, (3, face).
  subroutine get_outward_normals_to_faces(this, outward_normals_to_faces)
    class(reference_element_type), intent(in) :: this
    real(r_def), allocatable, intent(out) :: outward_normals_to_faces(:, :)

    allocate (outward_normals_to_faces, source=this%outward_normals)
  end subroutine get_outward_normals_to_faces

  !> Return the outward normals of the faces at the sides, (3, face).
  subroutine get_outward_normals_to_horizontal_faces(this, outward_normals_to_horizontal_faces)
    class(reference_element_type), intent(in) :: this
    real(r_def), allocatable, intent(out) :: outward_normals_to_horizontal_faces(:, :)

    allocate (outward_normals_to_horizontal_faces, &
              source=this%outward_normals(:, :this%number_2d_edges))
  end subroutine get_outward_normals_to_horizontal_faces

  !> Return the outward normals of the bottom and the top, (3, face).
  subroutine get_outward_normals_to_vertical_faces(this, outward_normals_to_vertical_faces)
    class(reference_element_type), intent(in) :: this
    real(r_def), allocatable, intent(out) :: outward_normals_to_vertical_faces(:, :)

    allocate (outward_normals_to_vertical_faces, &
              source=this%outward_normals(:, this%number_2d_edges + 1:))
  end subroutine get_outward_normals_to_vertical_faces

end module reference_element_mod
