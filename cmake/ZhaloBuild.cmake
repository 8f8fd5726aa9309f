# zhalo_settle_choice(name word...): the variable becomes one of these words. CMake's other words
# for ON and OFF, and small letters, are as good. Others are an error.
function(zhalo_settle_choice name)
  string(TOUPPER "${${name}}" choice)
  if(choice MATCHES "^(1|YES|Y|TRUE)$")
    set(choice ON)
  elseif(choice MATCHES "^(0|NO|N|FALSE)$")
    set(choice OFF)
  endif()
  if(NOT choice IN_LIST ARGN)
    list(JOIN ARGN ", " words)
    message(FATAL_ERROR "${name} is '${${name}}'; say one of ${words}")
  endif()
  set(${name} ${choice} PARENT_SCOPE)
endfunction()

# Whether ccache can write to its folder: else it would fail each compilation.
function(zhalo_try_ccache result ccache)
  set(folder "${PROJECT_BINARY_DIR}/CMakeFiles/ccache")
  file(WRITE "${folder}/nothing.c" "int zhalo_nothing;\n")
  execute_process(COMMAND "${ccache}" "${CMAKE_C_COMPILER}" -c nothing.c -o nothing.o
                  WORKING_DIRECTORY "${folder}" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(status EQUAL 0)
    set(${result} TRUE PARENT_SCOPE)
  else()
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

# Choices for the whole build tree. A project that embeds zhalo makes them itself.
if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
  endif()
  find_program(ZHALO_CCACHE ccache)
  mark_as_advanced(ZHALO_CCACHE)
  set(zhalo_use_ccache FALSE)
  if(ZHALO_CCACHE)
    zhalo_try_ccache(zhalo_use_ccache "${ZHALO_CCACHE}")
    if(NOT zhalo_use_ccache)
      message(STATUS "ccache is not used: it cannot write to its folder (CCACHE_DIR, or in HOME)")
    endif()
  endif()
  if(zhalo_use_ccache)
    foreach(language C CXX CUDA)
      if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
        set(CMAKE_${language}_COMPILER_LAUNCHER "${ZHALO_CCACHE}")
      endif()
    endforeach()
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  # What is installed finds the libraries that it was linked with where these are.
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
endif()

# One rounding on every backend: a * b + c is fused only where the text says fma, and sums keep
# their order, whatever CMAKE_CXX_FLAGS say and a compiler does by itself.
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fno-fast-math;-ffp-contract=off>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "IntelLLVM")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fp-model=precise>")
endif()

# Where the build type's optimisation is wrong for a part: the presets of the sanitizers optimise
# the kernels alone, and tests, which run once, are compiled faster than they would run.
set(ZHALO_KERNEL_OPTIONS "" CACHE STRING "More compiler options for kernels/host, such as -O1")
set(ZHALO_TEST_OPTIONS "" CACHE STRING "More compiler options for the tests, such as -O1")
option(ZHALO_KERNELS_TOGETHER
       "Let a unity build take kernels/host together: less to read, but long units" OFF)
option(ZHALO_PROGRAMS_TOGETHER
       "Let a unity build take all commands and examples together: to be read, never to be run" OFF)
set(ZHALO_AVX512 ON
    CACHE STRING "Compile kernels/host for AVX-512, too: ON, OFF or OWN (if this machine has it)")
set_property(CACHE ZHALO_AVX512 PROPERTY STRINGS ON OFF OWN)
option(ZHALO_NOTE_KERNELS
       "Keep what the assembler says of each CUDA kernel, for scripts/kernel-budget" OFF)
mark_as_advanced(ZHALO_KERNEL_OPTIONS ZHALO_TEST_OPTIONS ZHALO_KERNELS_TOGETHER
                 ZHALO_PROGRAMS_TOGETHER ZHALO_AVX512 ZHALO_NOTE_KERNELS)

# In a unity build a program is one unit; the library's units are smaller, so that a change of one
# file stays cheap.
macro(zhalo_compile_programs_together)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 24)
endmacro()
