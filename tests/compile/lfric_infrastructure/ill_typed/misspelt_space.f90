! expect: not found in module
! There is no such function space.
module misspelt_space_mod
  use fs_continuity_mod, only: W5
end module misspelt_space_mod
