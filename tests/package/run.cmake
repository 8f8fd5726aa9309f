# One package test: a fresh consumer that finds zhalo by WAY (find_package or add_subdirectory),
# builds README's program, runs it, and gets the output that README shows. A C program finds
# zhalo.h, too, also in a project without C++.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# The first block of README.md that is fenced as `language`.
function(read_block language result)
  file(READ "${ZHALO_SOURCE}/README.md" text)
  string(FIND "${text}" "```${language}\n" start)
  if(start EQUAL -1)
    message(FATAL_ERROR "README.md has no block of ${language}")
  endif()
  string(LENGTH "```${language}\n" fence)
  math(EXPR start "${start} + ${fence}")
  string(SUBSTRING "${text}" ${start} -1 text)
  string(FIND "${text}" "```" end)
  string(SUBSTRING "${text}" 0 ${end} text)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
read_block(cpp program)
read_block(output expected)
file(WRITE "${WORK}/readme.cpp" "${program}")

set(options "-DREADME_PROGRAM=${WORK}/readme.cpp")
list(JOIN PREFIX_PATH ":" prefixes)
set(ENV{CMAKE_PREFIX_PATH} "${prefixes}")
if(WAY STREQUAL "find_package")
  run(${CMAKE_COMMAND} --install "${ZHALO_BUILD}" --prefix "${WORK}/prefix")
  if(EXISTS "${WORK}/prefix/bin/fof")  # finds its libraries by itself
    run(${CMAKE_COMMAND} -E env --unset=LD_LIBRARY_PATH "${WORK}/prefix/bin/fof" --version)
  endif()
  list(APPEND options -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=${BUILD_TYPE})
  set(ENV{CMAKE_PREFIX_PATH} "${WORK}/prefix:${prefixes}")
else()
  # Builds the library once more: in the quickest way, and as the other trees do not, by Clang
  # without sanitizers and without FFTW.
  list(APPEND options -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++
       -DCMAKE_CXX_FLAGS=-DHWY_COMPILE_ONLY_STATIC)
  list(APPEND options -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_UNITY_BUILD=ON
       -DCMAKE_UNITY_BUILD_BATCH_SIZE=40)
  list(APPEND options -DZHALO_SUBDIRECTORY=${ZHALO_SOURCE} -DBUILD_SHARED_LIBS=ON -DZHALO_CUDA=OFF
       -DZHALO_FFTW=OFF -DZHALO_STD_THREADS=ON -DZHALO_KERNELS_TOGETHER=ON)
endif()
run(${CMAKE_COMMAND} -G Ninja -S "${CMAKE_CURRENT_LIST_DIR}/consumer" -B "${WORK}/build" ${options})
run(${CMAKE_COMMAND} --build "${WORK}/build" --parallel 2)

execute_process(COMMAND "${WORK}/build/readme" OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
message("${output}")
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "README.md shows another output:\n${expected}")
endif()

function(check_c_program folder)
  execute_process(COMMAND "${WORK}/${folder}/from_c" OUTPUT_VARIABLE output
                          COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output STREQUAL "0 0 2\n")
    message(FATAL_ERROR "The C program prints another output:\n${output}")
  endif()
endfunction()
check_c_program(build)
if(WAY STREQUAL "find_package")
  run(${CMAKE_COMMAND} -G Ninja -S "${CMAKE_CURRENT_LIST_DIR}/c_consumer" -B "${WORK}/build_c")
  run(${CMAKE_COMMAND} --build "${WORK}/build_c")
  check_c_program(build_c)
  # Without CMake, as docs/c.md shows it.
  find_program(PKG_CONFIG pkg-config)
  find_program(MPICC mpicc)
  if(PKG_CONFIG AND MPICC)
    file(GLOB_RECURSE pc_file "${WORK}/prefix/*/zhalo.pc")
    get_filename_component(pc_folder "${pc_file}" DIRECTORY)
    file(MAKE_DIRECTORY "${WORK}/by_hand")
    run(sh -euc
        "export PKG_CONFIG_PATH=$1 && mpicc $2 $(pkg-config --cflags --libs zhalo) -o $3"
        sh "${pc_folder}" "${CMAKE_CURRENT_LIST_DIR}/consumer/from_c.c"
        "${WORK}/by_hand/from_c")
    check_c_program(by_hand)
  endif()
endif()
