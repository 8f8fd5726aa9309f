/// The oracle of the transforms, by what can be done by hand; and that those who compare with it
/// see what is wrong.
#include "tests/support/run_fft.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

bool near(const std::complex<double>& a, const std::complex<double>& b) {
  return std::abs(a - b) < 1e-15;
}

}  // namespace

TEST_CASE("direct dft: two cells, and four") {
  const ComplexValues two = direct_dft({{1, 1, 2}}, {3, 5});
  CHECK((near(two[0], 8) && near(two[1], -2)));
  const ComplexValues four = direct_dft({{4, 1, 1}}, {1, 2, 3, 5});
  CHECK((near(four[0], 11) && near(four[1], {-2, 3}) && near(four[2], -3) &&
         near(four[3], {-2, -3})));
  const ComplexValues back = direct_dft({{4, 1, 1}}, four, +1);
  CHECK((near(back[0], 4) && near(back[1], 8) && near(back[2], 12) && near(back[3], 20)));
}

TEST_CASE("direct dft: one cell is a wave along each axis") {
  const GridIndex num = {{2, 4, 3}};
  ComplexValues cells(24);
  cells[index_on(num, {{1, 1, 0}})] = 1;
  const ComplexValues modes = direct_dft(num, cells);
  CHECK(near(modes[index_on(num, {{0, 0, 2}})], 1));
  CHECK(near(modes[index_on(num, {{1, 0, 1}})], -1));
  CHECK(near(modes[index_on(num, {{0, 1, 1}})], {0, -1}));
  CHECK(near(modes[index_on(num, {{1, 3, 0}})], {0, -1}));
  cells.assign(24, 0);
  cells[index_on(num, {{0, 0, 1}})] = 1;
  CHECK(near(direct_dft(num, cells)[index_on(num, {{1, 2, 1}})], {-0.5, -std::sqrt(0.75)}));
}

TEST_CASE("direct dft: a wrong value, one that is missing and one that is NaN are seen") {
  const GridIndex num = {{4, 3, 5}};
  const Signals signals(num, Signals::Kind::complex);
  const Placement placement{layout_of({{}, num}), 60, 1};
  const Communicator alone;
  const double bound = error_bound<std::complex<double>>(num);
  const auto right = arranged<std::complex<double>>(placement, signals.mode());
  CHECK(relative_error(alone, right, placement, signals.mode()) <= bound);
  auto wrong = right;
  wrong[17] *= 1 + 1e-12;
  CHECK(!(relative_error(alone, wrong, placement, signals.mode()) <= bound));
  wrong = right;
  std::swap(wrong[3], wrong[4]);
  CHECK(!(relative_error(alone, wrong, placement, signals.mode()) <= bound));
  wrong = right;
  wrong[59] = std::numeric_limits<double>::quiet_NaN();
  CHECK(!(relative_error(alone, wrong, placement, signals.mode()) <= bound));
}

TEST_CASE("guarded memory: a byte before, behind or far behind is seen") {
  for (const Index at : {-1, 24, 40}) {
    GuardedArray<double> array(host_exec(1), 3);
    CHECK(array.guards_intact());
    array.span().begin()[0] = 1;
    CHECK(array.guards_intact());
    reinterpret_cast<unsigned char*>(array.span().data())[at] = 0;
    CHECK(!array.guards_intact());
  }
}
