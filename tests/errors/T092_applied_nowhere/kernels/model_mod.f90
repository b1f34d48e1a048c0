module model_mod

  use kind_params_mod, only : go_wp

  implicit none

  type :: model_type
    real(go_wp) :: drag
  end type model_type

  type(model_type) :: model

end module model_mod
