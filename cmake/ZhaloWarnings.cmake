# Warnings for our own code: errors, on every compiler. Never exported.
add_library(zhalo_warnings INTERFACE)
set(zhalo_host_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror)
target_compile_options(zhalo_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${zhalo_host_warnings}>")
