# The fixture ZHALO_SNAPSHOTS_FIXTURE: ZHALO_SNAPSHOTS_DIR holds one snapshot in the styles of many
# codes, and broken ones (tests/apps/make_snapshots.py). A test that reads them sets the property
# FIXTURES_REQUIRED ${ZHALO_SNAPSHOTS_FIXTURE}.
include_guard(GLOBAL)

set(ZHALO_SNAPSHOTS_DIR "${PROJECT_BINARY_DIR}/tests/snapshots" CACHE INTERNAL
                                                                      "Where the fixture lies")
set(ZHALO_SNAPSHOTS_FIXTURE "${ZHALO_TEST_PREFIX}snapshots" CACHE INTERNAL "Name of the fixture")
set(name ${ZHALO_TEST_PREFIX}snapshots.make)
add_test(NAME ${name}
         COMMAND "${PYTHON3}" -B "${PROJECT_SOURCE_DIR}/tests/apps/make_snapshots.py"
                 "${PROJECT_SOURCE_DIR}/data/gadget4-dm64/snapshot_001.hdf5"
                 "${ZHALO_SNAPSHOTS_DIR}")
zhalo_set_test_properties(TESTS ${name} LABELS unit mpi apps TIMEOUT 120)
set_tests_properties(${name} PROPERTIES FIXTURES_SETUP ${ZHALO_SNAPSHOTS_FIXTURE})

# zhalo_add_io_test(name LABEL label [SOURCE file] [RANKS n...]): test io.<name> from <name>.cpp or
# the file, which sees the snapshots and has a folder of its own, <name> in the binary directory, to
# write to.
function(zhalo_add_io_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;SOURCE" "RANKS")
  if(NOT arg_SOURCE)
    set(arg_SOURCE ${name}.cpp)
  endif()
  zhalo_add_test(NAME io.${name} SOURCES ${arg_SOURCE} RANKS ${arg_RANKS} LABELS ${arg_LABEL}
                 LIBRARIES HDF5::HDF5)
  target_compile_definitions(
    test_io.${name} PRIVATE "ZHALO_SNAPSHOTS_DIR=\"${ZHALO_SNAPSHOTS_DIR}\""
                            "ZHALO_SCRATCH_DIR=\"${CMAKE_CURRENT_BINARY_DIR}/${name}\"")
  set(tests ${ZHALO_TEST_PREFIX}io.${name})
  if(arg_RANKS)
    list(TRANSFORM arg_RANKS PREPEND ${ZHALO_TEST_PREFIX}io.${name}.ranks OUTPUT_VARIABLE tests)
  endif()
  foreach(test IN LISTS tests)
    if(TEST ${test}) # there is none on numbers that ZHALO_TEST_RANKS leaves out
      set_tests_properties(${test} PROPERTIES FIXTURES_REQUIRED ${ZHALO_SNAPSHOTS_FIXTURE})
    endif()
  endforeach()
endfunction()

# zhalo_add_catalogue_check(name AFTER test SCRIPT script LABEL label ARGUMENTS argument...): test
# io.<name>, an independent reader that looks at what test io.<after> wrote; the script is named
# from tests/.
function(zhalo_add_catalogue_check name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "AFTER;SCRIPT;LABEL" "ARGUMENTS")
  set(test ${ZHALO_TEST_PREFIX}io.${name})
  set(writer ${ZHALO_TEST_PREFIX}io.${arg_AFTER})
  if(NOT TEST ${writer})
    return() # ZHALO_TEST_RANKS leaves it out
  endif()
  add_test(NAME ${test} COMMAND "${PYTHON3}" -B "${PROJECT_SOURCE_DIR}/tests/${arg_SCRIPT}"
                                ${arg_ARGUMENTS})
  zhalo_set_test_properties(TESTS ${test} LABELS ${arg_LABEL} TIMEOUT 60)
  set_tests_properties(${writer} PROPERTIES FIXTURES_SETUP ${writer}.written)
  set_tests_properties(${test} PROPERTIES FIXTURES_REQUIRED ${writer}.written)
endfunction()
