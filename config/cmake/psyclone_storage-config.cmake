# The CMake package of psyclone-storage, found by
#
#   cmake -Dpsyclone_storage_DIR=$(psyclone-storage --cmake-dir) ...
#   find_package(psyclone_storage REQUIRED)
#
# It gives one function:
#
#   psyclone_storage_add_algorithms(<target>
#     ALGORITHMS <file>...          algorithms to translate
#     [KERNELS <folder>...]         where their kernels are (default: beside the algorithms)
#     [INCLUDES <folder>...]        folders of include and module files
#     [API <name>]                  lfric or gocean (default: what the settings say)
#     [SCRIPT <file>]               a script with 'trans'
#     [CONFIG <file>]               a settings file
#     [OUTPUT_DIRECTORY <folder>]   where generated files go (default: psy, in the binary folder)
#     [OPTIONS <word>...])          further options of the command
#
# For each algorithm <name>.x90 the sources <name>.f90, <name>_psy.f90 and <name>_kernels.F90 are added
# to the target. The last one holds the kernels that the script has changed. A file is written
# only where its text changes, so that only what has changed is compiled; the command runs again
# when anything has changed that it has read, modules of the script and settings included.

cmake_policy(PUSH)
cmake_policy(VERSION 3.20)

find_program(PSYCLONE_STORAGE_EXECUTABLE psyclone-storage
  DOC "The command psyclone-storage")
if(NOT PSYCLONE_STORAGE_EXECUTABLE)
  set(psyclone_storage_FOUND FALSE)
  set(psyclone_storage_NOT_FOUND_MESSAGE
    "The command psyclone-storage is not on the search path: set PSYCLONE_STORAGE_EXECUTABLE.")
endif()

function(_psyclone_storage_absolute variable)
  set(paths "")
  foreach(path IN LISTS ARGN)
    get_filename_component(path "${path}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND paths "${path}")
  endforeach()
  set(${variable} "${paths}" PARENT_SCOPE)
endfunction()

function(psyclone_storage_add_algorithms target)
  cmake_parse_arguments(PARSE_ARGV 1 given "" "API;SCRIPT;CONFIG;OUTPUT_DIRECTORY"
    "ALGORITHMS;KERNELS;INCLUDES;OPTIONS")
  if(given_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR
      "psyclone_storage_add_algorithms does not know: ${given_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT given_ALGORITHMS)
    message(FATAL_ERROR "psyclone_storage_add_algorithms: no ALGORITHMS are given.")
  endif()
  if(NOT given_OUTPUT_DIRECTORY)
    set(given_OUTPUT_DIRECTORY psy)
  endif()
  get_filename_component(out "${given_OUTPUT_DIRECTORY}" ABSOLUTE
    BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  file(MAKE_DIRECTORY "${out}")

  # What all algorithms of a call have in common.
  set(words "")
  set(common "${PSYCLONE_STORAGE_EXECUTABLE}")
  if(given_API)
    list(APPEND words -api "${given_API}")
  endif()
  _psyclone_storage_absolute(kernels ${given_KERNELS})
  foreach(folder IN LISTS kernels)
    list(APPEND words -d "${folder}")
  endforeach()
  _psyclone_storage_absolute(includes ${given_INCLUDES})
  foreach(folder IN LISTS includes)
    list(APPEND words -I "${folder}")
  endforeach()
  _psyclone_storage_absolute(script ${given_SCRIPT})
  if(script)
    list(APPEND words -s "${script}")
    list(APPEND common "${script}")
  endif()
  _psyclone_storage_absolute(config ${given_CONFIG})
  if(config)
    list(APPEND words -c "${config}")
    list(APPEND common "${config}")
  endif()

  set(stamps "")
  _psyclone_storage_absolute(algorithms ${given_ALGORITHMS})
  foreach(algorithm IN LISTS algorithms)
    get_filename_component(name "${algorithm}" NAME_WLE)
    set(stamp "${out}/${name}.stamp")
    set(generated "${out}/${name}.f90" "${out}/${name}_psy.f90" "${out}/${name}_kernels.F90")
    add_custom_command(
      OUTPUT "${stamp}"
      BYPRODUCTS ${generated}
      COMMAND "${PSYCLONE_STORAGE_EXECUTABLE}" ${words}
        -oalg "${out}/${name}.f90" -opsy "${out}/${name}_psy.f90"
        -okern "${out}/kernels" --kernel-renaming layer
        --gather-kernels "${out}/${name}_kernels.F90"
        --depfile "${stamp}.d" --stamp "${stamp}"
        ${given_OPTIONS} "${algorithm}"
      DEPENDS "${algorithm}" ${common}
      DEPFILE "${stamp}.d"
      COMMENT "Generating the PSy layer of ${name}"
      VERBATIM)
    list(APPEND stamps "${stamp}")
    set_source_files_properties(${generated} PROPERTIES GENERATED TRUE)
    target_sources(${target} PRIVATE ${generated})
  endforeach()

  # A target of its own: make would begin to compile what is not there yet.
  get_property(number TARGET ${target} PROPERTY PSYCLONE_STORAGE_CALLS)
  if(NOT number)
    set(number 0)
  endif()
  math(EXPR next "${number} + 1")
  set_property(TARGET ${target} PROPERTY PSYCLONE_STORAGE_CALLS ${next})
  add_custom_target(${target}_psyclone_storage_${number} DEPENDS ${stamps})
  add_dependencies(${target} ${target}_psyclone_storage_${number})
endfunction()

cmake_policy(POP)
