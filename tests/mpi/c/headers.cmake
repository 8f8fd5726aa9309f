# cmake -DC=... -DCXX=... -DINCLUDE=... -DMPI=... -DWORK=... -P headers.cmake: each header of
# include/zhalo/c, and zhalo.h, compiles alone as C11 and as C++, without a warning. The check is
# shown a header that does not.
set(warnings -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only)
string(REPLACE "," ";" mpi "${MPI}")
list(TRANSFORM mpi PREPEND -isystem)

# Sets `result` to the compiler's status for a file that includes the header twice and no other.
function(compile header language result)
  file(WRITE "${WORK}/alone.${language}" "#include \"${header}\"\n#include \"${header}\"\n"
                                         "int main(void) { return 0; }\n")
  if(language STREQUAL "c")
    set(command ${C} -std=c11 -Wstrict-prototypes)
  else()
    set(command ${CXX} -std=c++11 -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
  endif()
  execute_process(COMMAND ${command} ${warnings} -I "${INCLUDE}" ${mpi} "${WORK}/alone.${language}"
                  RESULT_VARIABLE status ERROR_VARIABLE errors)
  if(status)
    message("${header} as ${language}:\n${errors}")
  endif()
  set(${result} "${status}" PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY "${WORK}")
file(GLOB headers RELATIVE "${INCLUDE}" "${INCLUDE}/zhalo/c/*.h" "${INCLUDE}/zhalo/zhalo.h")
list(LENGTH headers num)
if(num LESS 6)
  message(FATAL_ERROR "only ${num} headers were found")
endif()
foreach(header IN LISTS headers)
  foreach(language IN ITEMS c cpp)
    compile("${header}" ${language} status)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "${header} does not compile alone as ${language}")
    endif()
  endforeach()
endforeach()

# Needs another header in C, and is no C++.
file(WRITE "${WORK}/needy.h" "typedef struct needy { zhalo_column x; } needy;\n")
file(WRITE "${WORK}/only_c.h" "#ifndef A\n#define A\nstatic inline int f(int class) {\n"
                              "  return class;\n}\n#endif\n")
compile("${WORK}/needy.h" c needy)
compile("${WORK}/only_c.h" c only_c)
compile("${WORK}/only_c.h" cpp no_cpp)
if(needy EQUAL 0 OR NOT only_c EQUAL 0 OR no_cpp EQUAL 0)
  message(FATAL_ERROR "a planted fault was not found")
endif()
