# Finds the CUDA toolkit (also where it is usually installed but not on PATH) and enables the
# language as zhalo needs it. Sets ZHALO_HAVE_CUDA; and ZHALO_CUDA_IS_EMULATED where the host plays
# the device (tests/device), which needs no toolkit.
set(ZHALO_HAVE_CUDA OFF CACHE INTERNAL "Whether this tree compiles kernels/cuda")
set(ZHALO_CUDA_IS_EMULATED OFF)

# zhalo_compile_for_device(target file...): every CUDA file of a target goes through here. For
# emulated devices it is C++ like any other.
function(zhalo_compile_for_device target)
  if(ZHALO_CUDA_IS_EMULATED)
    set_source_files_properties(
      ${ARGN} TARGET_DIRECTORY ${target}
      PROPERTIES LANGUAGE CXX SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON
                 COMPILE_OPTIONS "${ZHALO_EMULATED_OPTIONS}")
  endif()
endfunction()

option(ZHALO_DEVICE_PROFILE
       "Emulated devices note what each line of a kernel loads and stores (scripts/device-profile)"
       OFF)
mark_as_advanced(ZHALO_DEVICE_PROFILE)

if(ZHALO_CUDA STREQUAL "OFF")
  return()
endif()
if(ZHALO_CUDA STREQUAL "EMULATED")
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    message(
      FATAL_ERROR
        "ZHALO_CUDA=EMULATED needs an x86-64 processor (its threads are switched by hand); "
        "this is ${CMAKE_SYSTEM_PROCESSOR}"
    )
  endif()
  if(NOT ZHALO_FFTW)
    message(
      FATAL_ERROR "ZHALO_CUDA=EMULATED needs FFTW in place of cuFFT: configure with -DZHALO_FFTW=ON"
    )
  endif()
  set(ZHALO_HAVE_CUDA ON CACHE INTERNAL "Whether this tree compiles kernels/cuda")
  set(ZHALO_CUDA_IS_EMULATED ON)
  # As nvcc does: its headers first, one rounding, and warnings that are not about the house's own
  # text as it stands.
  set(ZHALO_EMULATED_OPTIONS
      "-I${PROJECT_SOURCE_DIR}/tests/device/include" -include cuda_runtime.h
      -DZHALO_EMULATED_DEVICE -mfma -Wno-conversion -Wno-sign-conversion -Wno-shadow -Wno-pedantic
      ${ZHALO_KERNEL_OPTIONS})
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
    # A volatile access is an atomic one on a device.
    list(APPEND ZHALO_EMULATED_OPTIONS -mllvm -tsan-distinguish-volatile=1)
  endif()
  if(ZHALO_DEVICE_PROFILE) # scripts/device-profile: the compiler's calls for ThreadSanitizer,
                           # without ThreadSanitizer
    list(APPEND ZHALO_EMULATED_OPTIONS -fsanitize=thread -g1)
  endif()
  set(CMAKE_ENABLE_EXPORTS ON) # to what stands in for NCCL, which is loaded at run time
  message(STATUS "CUDA backend: emulated on the host, for tests only")
  return()
endif()

# Says why there is no CUDA backend: an error if it was asked for, else a line of the output.
function(zhalo_do_without_cuda reason)
  set(remedy "say which one to take with CUDACXX or CMAKE_CUDA_COMPILER")
  if(ARGC GREATER 1)
    set(remedy "${ARGV1}")
  endif()
  if(ZHALO_CUDA STREQUAL "ON")
    message(FATAL_ERROR "ZHALO_CUDA is ON but ${reason}; ${remedy}, "
                        "or configure with -DZHALO_CUDA=OFF")
  endif()
  message(STATUS "CUDA backend: OFF, because ${reason}")
endfunction()

set(zhalo_cuda_version 12.5) # the first with all that is used of CUB
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(ZHALO_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda /opt/cuda
               PATH_SUFFIXES bin)
  mark_as_advanced(ZHALO_NVCC)
  if(NOT ZHALO_NVCC)
    zhalo_do_without_cuda("no nvcc was found on PATH or in /usr/local/cuda/bin")
    return()
  endif()
  set(ENV{CUDACXX} "${ZHALO_NVCC}")
endif()
# Without this nvcc takes the gcc that is first on PATH, which may be older.
if(NOT CMAKE_CUDA_HOST_COMPILER AND NOT DEFINED ENV{CUDAHOSTCXX})
  set(ENV{CUDAHOSTCXX} "${CMAKE_CXX_COMPILER}")
endif()
# What CMake makes of the compiler is an error, also where nobody asked for CUDA: first a look. A
# compiler that was of no use is forgotten: there may be another by now.
if(NOT CMAKE_CUDA_COMPILER)
  unset(CMAKE_CUDA_COMPILER CACHE)
endif()
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  unset(ZHALO_NVCC CACHE)
  zhalo_do_without_cuda("the compiler $ENV{CUDACXX} does not work with ${CMAKE_CXX_COMPILER}")
  return()
endif()
execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" --version OUTPUT_VARIABLE version ERROR_QUIET)
if(version MATCHES "release ([0-9.]+)" AND CMAKE_MATCH_1 VERSION_LESS zhalo_cuda_version)
  set(too_old "${CMAKE_CUDA_COMPILER} is of CUDA ${CMAKE_MATCH_1}")
  if(ZHALO_NVCC) # found, not named by the user: there may be another by now
    unset(CMAKE_CUDA_COMPILER CACHE)
    unset(ZHALO_NVCC CACHE)
  endif()
  zhalo_do_without_cuda("${too_old}, and ${zhalo_cuda_version} or later is needed")
  return()
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  # Machine code for A100 and H100/H200; PTX for what comes after.
  if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_CUDA_ARCHITECTURES "80-real;90" CACHE STRING "CUDA architectures")
  else() # also for what the project compiles itself, as CMake would choose where nobody does
    set(CMAKE_CUDA_ARCHITECTURES "80-real;90")
    set(CMAKE_CUDA_ARCHITECTURES "80-real;90" PARENT_SCOPE)
  endif()
endif()
enable_language(CUDA)
if(CMAKE_CUDA_ARCHITECTURES STREQUAL "native" AND CMAKE_CUDA_ARCHITECTURES_NATIVE)
  # Older GPUs than zhalo's code is for are left aside.
  set(native ${CMAKE_CUDA_ARCHITECTURES_NATIVE})
  list(FILTER native EXCLUDE REGEX "^[1-7][0-9]($|-)")
  if(NOT native)
    zhalo_do_without_cuda(
      "no GPU here has compute capability 8.0 or later (${CMAKE_CUDA_ARCHITECTURES_NATIVE})"
      "name those of other machines with -DCMAKE_CUDA_ARCHITECTURES=")
    return()
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${native})
endif()
foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
  if(architecture MATCHES "^all" OR architecture MATCHES "^[1-7][0-9]($|-)")
    string(CONCAT reason "CMAKE_CUDA_ARCHITECTURES has ${architecture}, and zhalo needs compute "
                         "capability 8.0 or later")
    # A project that embeds zhalo may have chosen for itself, or not at all.
    if(PROJECT_IS_TOP_LEVEL)
      message(FATAL_ERROR "${reason}: name others, such as 80-real;90, or configure with "
                          "-DZHALO_CUDA=OFF")
    endif()
    zhalo_do_without_cuda("${reason}"
                          "name others with -DCMAKE_CUDA_ARCHITECTURES=, such as 80-real;90")
    return()
  endif()
endforeach()
include(ZhaloFindCudaToolkit)
if(NOT TARGET CUDA::cufft)
  message(FATAL_ERROR "the CUDA toolkit has no cuFFT: install it (libcufft-dev), "
                      "or configure with -DZHALO_CUDA=OFF")
endif()
set(ZHALO_HAVE_CUDA ON CACHE INTERNAL "Whether this tree compiles kernels/cuda")
message(STATUS "CUDA backend: ON")

# CMake 3.25 drops CUDA_STANDARD 20 silently with newer nvcc, so the standard is an option here. No
# fused multiply-add but where the text says fma: host and device must round alike.
add_compile_options(
  "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--fmad=false;-Xcompiler=-ffp-contract=off>")
