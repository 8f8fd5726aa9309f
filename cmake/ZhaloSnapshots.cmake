# The fixture ZHALO_SNAPSHOTS_FIXTURE: ZHALO_SNAPSHOTS_DIR holds one snapshot in the styles of many codes, and broken ones
# (tests/apps/make_snapshots.py). A test that reads them sets the property FIXTURES_REQUIRED ${ZHALO_SNAPSHOTS_FIXTURE}.
include_guard(GLOBAL)

set(ZHALO_SNAPSHOTS_DIR "${PROJECT_BINARY_DIR}/tests/snapshots" CACHE INTERNAL "Where the fixture lies")
set(ZHALO_SNAPSHOTS_FIXTURE "${ZHALO_TEST_PREFIX}snapshots" CACHE INTERNAL "Name of the fixture")
set(name ${ZHALO_TEST_PREFIX}snapshots.make)
add_test(NAME ${name} COMMAND "${PYTHON3}" "${PROJECT_SOURCE_DIR}/tests/apps/make_snapshots.py"
                              "${PROJECT_SOURCE_DIR}/data/gadget4-dm64/snapshot_001.hdf5" "${ZHALO_SNAPSHOTS_DIR}")
zhalo_set_test_properties(TESTS ${name} LABELS unit apps TIMEOUT 120)
set_tests_properties(${name} PROPERTIES FIXTURES_SETUP ${ZHALO_SNAPSHOTS_FIXTURE})
