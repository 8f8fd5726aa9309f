/// The handler of errors that a code has given HDF5.
#include <catch2/catch.hpp>

#include "src/io/hdf5/input.hpp"
#include "zhalo/core/error.hpp"

using namespace zhalo;
using namespace zhalo::io::hdf5;

TEST_CASE("HDF5: the handler of errors of the caller stays, of either version") {
  const auto quiet1 = [](void*) -> herr_t { return 0; };
  const auto quiet2 = [](hid_t, void*) -> herr_t { return 0; };
  int data = 0;
  void* found = nullptr;
  H5Eset_auto1(quiet1, &data);
  CHECK_THROWS_AS(InputFile("nowhere.hdf5"), FileError);
  H5E_auto1_t first = nullptr;
  REQUIRE(H5Eget_auto1(&first, &found) >= 0);
  CHECK((first == static_cast<H5E_auto1_t>(quiet1) && found == &data));
  H5Eset_auto2(H5E_DEFAULT, quiet2, &data);
  CHECK_THROWS_AS(InputFile("nowhere.hdf5"), FileError);
  H5E_auto2_t second = nullptr;
  REQUIRE(H5Eget_auto2(H5E_DEFAULT, &second, &found) >= 0);
  CHECK((second == static_cast<H5E_auto2_t>(quiet2) && found == &data));
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}
