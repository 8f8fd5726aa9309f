# Warnings for our own code. Never exported. In tests they are errors; users have compilers and
# devices of which the tests know nothing.
option(ZHALO_WARNINGS_AS_ERRORS "Stop at warnings in zhalo's own code" OFF)
add_library(zhalo_warnings INTERFACE)
set(zhalo_error "$<$<BOOL:${ZHALO_WARNINGS_AS_ERRORS}>:-Werror>")
set(zhalo_host_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
                        ${zhalo_error})
# What nvcc hands to the host compiler is not the text as written: -Wpedantic and the conversion
# warnings would judge nvcc's. GCC 12 takes a variable of CUB's for uninitialised.
set(zhalo_cuda_warnings -Xcompiler=-Wall,-Wextra,-Wno-maybe-uninitialized)
if(ZHALO_WARNINGS_AS_ERRORS)
  set(zhalo_cuda_warnings -Werror=all-warnings
                          -Xcompiler=-Wall,-Wextra,-Werror,-Wno-maybe-uninitialized)
endif()
# A kernel that needs more registers than there are keeps some in memory, which is slow: none does
# of those that the tests compile.
list(APPEND zhalo_cuda_warnings $<$<NOT:$<CONFIG:Debug>>:-Xptxas=--warn-on-spills>)
# Of what stands side by side in a unity build but not in any one file.
set(zhalo_gnu_unity_warnings "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>")
list(APPEND zhalo_host_warnings
     "$<$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>:-Wno-shadow;${zhalo_gnu_unity_warnings}>")
target_compile_options(
  zhalo_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${zhalo_host_warnings}>"
                           "$<$<COMPILE_LANGUAGE:CUDA>:${zhalo_cuda_warnings}>")
