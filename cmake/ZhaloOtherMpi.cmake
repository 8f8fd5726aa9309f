# zhalo_names_of_mpi(result library...): the names, such as libmpi.so.40, by which programs find
# these libraries of an MPI. Nothing where that cannot be seen.
function(zhalo_names_of_mpi result)
  set(names "")
  foreach(library IN LISTS ARGN)
    set(header "")
    if(CMAKE_READELF)
      execute_process(COMMAND "${CMAKE_READELF}" -d "${library}" OUTPUT_VARIABLE header ERROR_QUIET)
    endif()
    if(header MATCHES "SONAME[^[]*\\[(lib[a-z_]*mpi[^]]*)\\]")
      list(APPEND names "${CMAKE_MATCH_1}")
    elseif(NOT header AND EXISTS "${library}") # a text for the linker, such as INPUT(libmpi.so.12)
      file(READ "${library}" text LIMIT 1000)
      string(REGEX MATCHALL "lib[a-z_]*mpi[a-z]*\\.so[.0-9]*" in_text "${text}")
      list(APPEND names ${in_text})
    endif()
  endforeach()
  set(${result} "${names}" PARENT_SCOPE)
endfunction()

# zhalo_other_mpi_of(result library...): sets `result` to the library of MPI that one of these was
# linked with, if that is none of those that zhalo is linked with; else to nothing. It is nothing,
# too, where that cannot be seen. With two MPIs in one program every run fails.
function(zhalo_other_mpi_of result)
  set(${result} "" PARENT_SCOPE)
  if(NOT CMAKE_READELF)
    return()
  endif()
  zhalo_names_of_mpi(names ${MPI_C_LIBRARIES})
  foreach(library IN LISTS ARGN)
    execute_process(COMMAND "${CMAKE_READELF}" -d "${library}" OUTPUT_VARIABLE header ERROR_QUIET)
    if(names AND header MATCHES "NEEDED[^[]*\\[(libmpi(ch)?\\.so[^]]*)\\]"
       AND NOT CMAKE_MATCH_1 IN_LIST names)
      set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()
