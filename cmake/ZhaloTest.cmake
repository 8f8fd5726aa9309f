# zhalo_add_test(NAME name SOURCES file... [LABELS label...] [RANKS n...] [TIMEOUT seconds]
# [LIBRARIES target...] [ARGUMENTS argument...])
#
# One Catch2 executable test_<name>. Without RANKS it runs as test <name>, alone and without
# MPI_Init. With RANKS it runs under mpiexec once per number as <name>.ranks<n>, MPI initialised; of
# several numbers those in ZHALO_TEST_RANKS are taken. Every test has a timeout (120 s unless told):
# a test that hangs is a failure. ARGUMENTS go to the program, such as the names of the cases to
# run. ZHALO_DATA_DIR is the folder of the fixtures, as a string literal. ZHALO_TEST_PREFIX comes
# before every test's name, so that one run of ctest can hold several build trees (scripts/test).
set(ZHALO_TEST_PREFIX "" CACHE STRING "What the names of the tests start with")
set(ZHALO_TEST_ENVIRONMENT "" CACHE STRING
                                    "NAME=value list for every test (the sanitizer presets set it)")

set(ZHALO_TEST_RANKS 1 2 3 4 8 16
    CACHE STRING "Numbers of ranks to test on (the presets of slow trees set it)")
option(ZHALO_TEST_ALL "Also what takes long" OFF)
set(zhalo_is_sanitized OFF)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(zhalo_is_sanitized ON)
endif()
set(zhalo_looks_for_races OFF)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  set(zhalo_looks_for_races ON) # which take more than one thread
endif()

# Sets `result` to those of `numbers` that ZHALO_TEST_RANKS has; a test on one number only runs on
# that.
function(zhalo_choose_ranks result)
  set(chosen ${ARGN})
  list(LENGTH chosen length)
  if(length GREATER 1)
    foreach(ranks IN LISTS ARGN)
      if(NOT ranks IN_LIST ZHALO_TEST_RANKS)
        list(REMOVE_ITEM chosen ${ranks})
      endif()
    endforeach()
  endif()
  set(${result} ${chosen} PARENT_SCOPE)
endfunction()

# Catch2's implementation is slow to compile: once for all tests, as are the two mains.
add_library(zhalo_catch OBJECT "${PROJECT_SOURCE_DIR}/tests/catch.cpp")
target_link_libraries(zhalo_catch PUBLIC Catch2::Catch2)
if(Catch2_VERSION VERSION_GREATER_EQUAL 3)
  target_include_directories(zhalo_catch PUBLIC "${PROJECT_SOURCE_DIR}/tests/support/catch3")
endif()
target_compile_features(zhalo_catch PUBLIC cxx_std_20)
target_compile_options(zhalo_catch PRIVATE -O0 -fno-sanitize=address,undefined)
# What every assertion would do by itself is left to the test case as a whole.
target_compile_definitions(zhalo_catch PUBLIC CATCH_CONFIG_FAST_COMPILE)
add_library(zhalo_test_main OBJECT "${PROJECT_SOURCE_DIR}/tests/main.cpp")
target_link_libraries(zhalo_test_main PUBLIC zhalo_catch PRIVATE zhalo::zhalo fmt::fmt
                                                                 zhalo_warnings)
target_compile_options(zhalo_test_main PRIVATE ${ZHALO_TEST_OPTIONS})
# What nearly all tests include, read once.
target_precompile_headers(
  zhalo_test_main PRIVATE <algorithm> <cmath> <string> <vector> <fmt/format.h> <catch2/catch.hpp>
  "${PROJECT_SOURCE_DIR}/include/zhalo/comm/context.hpp")
add_library(zhalo_test_main_mpi OBJECT "${PROJECT_SOURCE_DIR}/tests/main_mpi.cpp")
target_link_libraries(zhalo_test_main_mpi PUBLIC zhalo_catch PRIVATE zhalo::zhalo zhalo_warnings)

# What the results are compared with, by definition. Compiled to be fast in all trees: it is not
# what a sanitizer is for.
add_library(
  zhalo_oracles STATIC EXCLUDE_FROM_ALL
  "${PROJECT_SOURCE_DIR}/tests/support/brute_force.cpp"
  "${PROJECT_SOURCE_DIR}/tests/support/brute_neighbours.cpp"
  "${PROJECT_SOURCE_DIR}/tests/support/direct_dft.cpp")
target_include_directories(zhalo_oracles PUBLIC "${PROJECT_SOURCE_DIR}")
target_link_libraries(zhalo_oracles PUBLIC zhalo::zhalo PRIVATE zhalo_warnings)
target_compile_options(zhalo_oracles PRIVATE -O2 -fno-sanitize=all)

# Tests of devices are tests where there is one: emulated, or this machine's own when the tree was
# configured.
set(zhalo_tests_devices ${ZHALO_CUDA_IS_EMULATED})
if(ZHALO_HAVE_CUDA AND NOT ZHALO_CUDA_IS_EMULATED)
  execute_process(COMMAND nvidia-smi -L RESULT_VARIABLE zhalo_device_is_missing OUTPUT_QUIET
                                                                                ERROR_QUIET)
  if(zhalo_device_is_missing EQUAL 0)
    set(zhalo_tests_devices ON)
  endif()
endif()

function(zhalo_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TIMEOUT"
                        "SOURCES;LABELS;RANKS;LIBRARIES;ARGUMENTS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_NAME OR NOT arg_SOURCES)
    message(
      FATAL_ERROR
        "zhalo_add_test(${ARGV}): NAME and SOURCES are needed, "
        "and nothing else is known but LABELS RANKS TIMEOUT "
        "LIBRARIES ARGUMENTS")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(arg_RANKS)
    zhalo_choose_ranks(arg_RANKS ${arg_RANKS})
    if(NOT arg_RANKS)
      return()
    endif()
  endif()
  set(target test_${arg_NAME})
  set(name ${ZHALO_TEST_PREFIX}${arg_NAME})
  set(main zhalo_test_main)
  if(arg_RANKS)
    set(main zhalo_test_main_mpi)
  endif()
  add_executable(${target} ${arg_SOURCES})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  # GCC 12 warns at -O1 of copies within std::string that are none.
  set(false_alarms "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow>")
  target_compile_options(
    ${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${ZHALO_TEST_OPTIONS};${false_alarms}>")
  target_compile_definitions(${target} PRIVATE "ZHALO_DATA_DIR=\"${PROJECT_SOURCE_DIR}/data\"")
  target_link_libraries(${target} PRIVATE ${main} zhalo_catch zhalo_oracles zhalo::zhalo fmt::fmt
                                          Threads::Threads ${arg_LIBRARIES} zhalo_warnings)

  target_precompile_headers(${target} REUSE_FROM zhalo_test_main)

  set(tests "")
  if(arg_RANKS)
    foreach(ranks IN LISTS arg_RANKS)
      zhalo_add_mpi_command(NAME ${name}.ranks${ranks} RANKS ${ranks} COMMAND
                            $<TARGET_FILE:${target}> ${arg_ARGUMENTS})
      list(APPEND tests ${name}.ranks${ranks})
    endforeach()
  else()
    add_test(NAME ${name} COMMAND ${target} ${arg_ARGUMENTS})
    list(APPEND tests ${name})
  endif()
  zhalo_set_test_properties(TESTS ${tests} LABELS ${arg_LABELS} TIMEOUT ${arg_TIMEOUT})
endfunction()

# zhalo_need_device(num test...): these run on so many emulated devices, and fail rather than skip
# anything. All other tests see none: by default a device would be taken before the host.
function(zhalo_need_device num)
  set_tests_properties(${ARGN} PROPERTIES FAIL_REGULAR_EXPRESSION "SKIPPED: no CUDA device")
  set_property(TEST ${ARGN} APPEND PROPERTY ENVIRONMENT ZHALO_EMULATED_DEVICES=${num})
endfunction()

# zhalo_compile_host_loops(target file...): these files of a test include the host's loops, and are
# compiled as the library is.
function(zhalo_compile_host_loops target)
  set(options ${ZHALO_KERNEL_OPTIONS})
  if(ZHALO_STD_THREADS)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_DEFINITIONS ZHALO_STD_THREADS)
  else()
    list(APPEND options ${OpenMP_CXX_FLAGS})
    target_link_libraries(${target} PRIVATE ${OpenMP_CXX_LIBRARIES})
  endif()
  # Alone: the other files, and the headers that were read before, have other options.
  set_source_files_properties(
    ${ARGN} PROPERTIES COMPILE_OPTIONS "${options}" SKIP_UNITY_BUILD_INCLUSION ON
                       SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# zhalo_add_mpi_command(NAME test RANKS n COMMAND command...): runs any command on n ranks, more
# than there are cores if need be. Give it the common properties with zhalo_set_test_properties.
function(zhalo_add_mpi_command)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;RANKS" "COMMAND")
  add_test(NAME ${arg_NAME} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${arg_RANKS}
                                    ${MPIEXEC_PREFLAGS} ${arg_COMMAND})
  # The leak check at the end of a rank ends in a fault of its own where MPI's threads are still
  # about.
  set_tests_properties(${arg_NAME} PROPERTIES PROCESSORS ${arg_RANKS} ENVIRONMENT_MODIFICATION
                                              "ASAN_OPTIONS=string_append::detect_leaks=0")
endfunction()

# zhalo_set_test_properties(TESTS name... LABELS label... TIMEOUT seconds): what every test of zhalo
# has.
function(zhalo_set_test_properties)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TIMEOUT" "TESTS;LABELS")
  # Open MPI refuses root unless told twice, pins all ranks of all tests to the same cores unless
  # told not to, and looks for ssh, even for ranks on this machine alone, unless told that it is
  # isolated. Without a look for networks it starts in half the time.
  string(REPLACE ";" "," ranks "${ZHALO_TEST_RANKS}")
  # Tests use more threads than there may be cores: those that wait must not keep one busy.
  set(environment
      OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
      OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_rmaps_base_oversubscribe=1
      PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_plm=isolated OMPI_MCA_pml=ob1
      OMPI_MCA_btl=vader,self OMP_WAIT_POLICY=passive ZHALO_TEST_RANKS=${ranks}
      ZHALO_MPIEXEC=${MPIEXEC_EXECUTABLE}
      ${ZHALO_TEST_ENVIRONMENT})
  if(ZHALO_CUDA_IS_EMULATED)
    list(APPEND environment ZHALO_EMULATED_DEVICES=0)
  endif()
  set_tests_properties(${arg_TESTS} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
                                               ENVIRONMENT "${environment}")
endfunction()
