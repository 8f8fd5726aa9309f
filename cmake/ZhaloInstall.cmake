# The installed package: find_package(zhalo) gives zhalo::zhalo.
include(CMakePackageConfigHelpers)

set(zhalo_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/zhalo")
install(TARGETS zhalo EXPORT zhalo RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" FILE_SET HEADERS
                DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT zhalo NAMESPACE zhalo:: DESTINATION "${zhalo_package_dir}" FILE zhaloTargets.cmake)

set(zhalo_links_cuda ${ZHALO_HAVE_CUDA})
if(ZHALO_CUDA_IS_EMULATED)
  set(zhalo_links_cuda OFF)
endif()
zhalo_names_of_mpi(zhalo_mpi_names ${MPI_C_LIBRARIES})
list(JOIN zhalo_mpi_names "|" zhalo_mpi_regex)
if(NOT zhalo_mpi_names) # not seen: any will do
  set(zhalo_mpi_regex ".*")
endif()
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/zhaloConfig.cmake.in" "${PROJECT_BINARY_DIR}/zhaloConfig.cmake"
  INSTALL_DESTINATION "${zhalo_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/zhaloConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/zhaloConfig.cmake"
              "${PROJECT_BINARY_DIR}/zhaloConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/ZhaloFindCudaToolkit.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/ZhaloFindFftw.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/ZhaloOtherMpi.cmake" DESTINATION "${zhalo_package_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
include(ZhaloPkgConfig)
