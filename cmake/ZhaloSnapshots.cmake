# The fixture `snapshots`: ZHALO_SNAPSHOTS_DIR holds one snapshot in the styles of many codes, and broken ones
# (tests/apps/make_snapshots.py). A test that reads them sets the property FIXTURES_REQUIRED snapshots.
# ZHALO_PYTHON is a Python with numpy and h5py.
include_guard(GLOBAL)

set(ZHALO_PYTHON "" CACHE FILEPATH "Python with numpy and h5py, for tests; found by itself if empty")
if(NOT ZHALO_PYTHON)
  foreach(candidate IN ITEMS python3 /usr/bin/python3)
    execute_process(COMMAND ${candidate} -c "import h5py, numpy" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed EQUAL 0)
      find_program(zhalo_python_found NAMES ${candidate} NO_CACHE)
      set(ZHALO_PYTHON "${zhalo_python_found}" CACHE FILEPATH "" FORCE)
      break()
    endif()
  endforeach()
endif()
if(NOT ZHALO_PYTHON)
  message(FATAL_ERROR "The tests need a python3 with numpy and h5py (Debian: python3-numpy python3-h5py); set ZHALO_PYTHON, or "
                      "switch the tests off with -DZHALO_TESTS=OFF")
endif()

set(ZHALO_SNAPSHOTS_DIR "${PROJECT_BINARY_DIR}/tests/snapshots" CACHE INTERNAL "Where the fixture `snapshots` lies")
add_test(NAME snapshots.make
         COMMAND "${ZHALO_PYTHON}" "${PROJECT_SOURCE_DIR}/tests/apps/make_snapshots.py"
                 "${PROJECT_SOURCE_DIR}/data/gadget4-dm64/snapshot_001.hdf5" "${ZHALO_SNAPSHOTS_DIR}")
zhalo_set_test_properties(TESTS snapshots.make LABELS unit apps TIMEOUT 120)
set_tests_properties(snapshots.make PROPERTIES FIXTURES_SETUP snapshots)
