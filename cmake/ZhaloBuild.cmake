# Choices for the whole build tree. A project that embeds zhalo makes them itself.
if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
  endif()
  find_program(ZHALO_CCACHE ccache)
  mark_as_advanced(ZHALO_CCACHE)
  if(ZHALO_CCACHE)
    foreach(language C CXX CUDA)
      if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
        set(CMAKE_${language}_COMPILER_LAUNCHER "${ZHALO_CCACHE}")
      endif()
    endforeach()
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

# One rounding on every backend: a * b + c is fused only where the text says fma.
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>")

# Commands and tests of many files compile in half the time as one; the library's own files are compiled one by one, so that each is known
# to include what it needs.
option(ZHALO_UNITY_PROGRAMS "Compile the files of each command and test as one" OFF)
mark_as_advanced(ZHALO_UNITY_PROGRAMS)
macro(zhalo_compile_programs_together)
  if(ZHALO_UNITY_PROGRAMS)
    set(CMAKE_UNITY_BUILD ON)
    set(CMAKE_UNITY_BUILD_BATCH_SIZE 24)
  endif()
endmacro()
