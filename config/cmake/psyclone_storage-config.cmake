# The CMake package of psyclone-storage, found by
#
#   cmake -DCMAKE_PREFIX_PATH=<virtual environment> ...
#   find_package(psyclone_storage REQUIRED)
#
# or, for an installation elsewhere, by -Dpsyclone_storage_DIR=$(psyclone-storage --cmake-dir).
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
# when anything has changed that it has read, modules of the script and settings included, or if one
# of the sources was deleted. If another target, or an algorithm in another folder, has the same
# outputs, they are in a folder of their own: <target>-<digest of the algorithm's path>.
#
# Changed kernels of all algorithms are in one folder: psy/kernels in the binary folder of the whole
# project, or kernels in an OUTPUT_DIRECTORY outside it. Their numbers depend on the path of the PSy
# layer relative to this folder, so no two layers have kernels with the same name.

cmake_policy(PUSH)
cmake_policy(VERSION 3.20)

set(_psyclone_storage_hints "")
if(CMAKE_CURRENT_LIST_DIR MATCHES "^(.*)/share/cmake/psyclone_storage$")
  set(_psyclone_storage_hints HINTS "${CMAKE_MATCH_1}/bin")
endif()
find_program(PSYCLONE_STORAGE_EXECUTABLE psyclone-storage ${_psyclone_storage_hints}
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

# Set 'variable' to the folder of the outputs of 'algorithm' in 'target': 'out' if it is not taken.
function(_psyclone_storage_folder variable target algorithm out)
  get_filename_component(name "${algorithm}" NAME_WLE)
  get_property(given TARGET ${target} PROPERTY PSYCLONE_STORAGE_ALGORITHMS)
  if("${algorithm}" IN_LIST given)
    message(FATAL_ERROR
      "psyclone_storage_add_algorithms: ${algorithm} is given twice for ${target}.")
  endif()
  set_property(TARGET ${target} APPEND PROPERTY PSYCLONE_STORAGE_ALGORITHMS "${algorithm}")
  get_property(taken GLOBAL PROPERTY PSYCLONE_STORAGE_OUTPUTS)
  set(folder "${out}")
  if("${folder}/${name}" IN_LIST taken)
    file(RELATIVE_PATH relative "${CMAKE_SOURCE_DIR}" "${algorithm}")
    string(SHA1 digest "${relative}")
    string(SUBSTRING "${digest}" 0 8 digest)
    set(folder "${out}/${target}-${digest}")
  endif()
  set_property(GLOBAL APPEND PROPERTY PSYCLONE_STORAGE_OUTPUTS "${folder}/${name}")
  file(MAKE_DIRECTORY "${folder}")
  set(${variable} "${folder}" PARENT_SCOPE)
endfunction()

# Let 'target' first remove each of 'stamps' for which an output is missing. Ninja knows all outputs,
# but Make only stamps, as an output keeps its time if its text is the same.
function(_psyclone_storage_check target stamps)
  if(NOT CMAKE_GENERATOR MATCHES "Makefiles")
    return()
  endif()
  set(script "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.cmake")
  set(check [[
foreach(stamp IN LISTS stamps)
  string(REGEX REPLACE "[.]stamp$" "" name "${stamp}")
  if(NOT EXISTS "${name}.f90" OR NOT EXISTS "${name}_psy.f90" OR NOT EXISTS "${name}_kernels.F90")
    file(REMOVE "${stamp}")
  endif()
endforeach()
]])
  file(WRITE "${script}" "set(stamps [==[${stamps}]==])\n${check}")
  add_custom_target(${target}_check COMMAND "${CMAKE_COMMAND}" -P "${script}" VERBATIM)
  add_dependencies(${target} ${target}_check)
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

  file(RELATIVE_PATH changed "${CMAKE_BINARY_DIR}" "${out}")
  if(changed MATCHES "^[.][.](/|$)")
    set(changed "${out}/kernels")
  else()
    set(changed "${CMAKE_BINARY_DIR}/psy/kernels")
  endif()

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
    _psyclone_storage_folder(folder ${target} "${algorithm}" "${out}")
    set(stamp "${folder}/${name}.stamp")
    set(generated
      "${folder}/${name}.f90" "${folder}/${name}_psy.f90" "${folder}/${name}_kernels.F90")
    add_custom_command(
      OUTPUT "${stamp}"
      BYPRODUCTS ${generated}
      COMMAND "${PSYCLONE_STORAGE_EXECUTABLE}" ${words}
        -oalg "${folder}/${name}.f90" -opsy "${folder}/${name}_psy.f90"
        -okern "${changed}" --kernel-renaming layer
        --gather-kernels "${folder}/${name}_kernels.F90"
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
  set(generation ${target}_psyclone_storage_${number})
  add_custom_target(${generation} DEPENDS ${stamps})
  _psyclone_storage_check(${generation} "${stamps}")
  add_dependencies(${target} ${generation})
endfunction()

cmake_policy(POP)
