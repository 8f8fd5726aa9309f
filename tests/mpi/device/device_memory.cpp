/// Addresses of the host, or of another device, that one rank gives to a context on a device: the
/// same error on all ranks, after which all can go on.
#include <complex>

#include "kernels/memory.hpp"
#include "tests/mpi/comm/agreed_error.hpp"
#include "tests/mpi/device/find_device.hpp"
#include "tests/support/point_sets.hpp"
#include "zhalo/catalogue/attach.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/domain/domain.hpp"
#include "zhalo/domain/particles.hpp"
#include "zhalo/fft/decomposition.hpp"
#include "zhalo/fft/fft.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/knn/reduce.hpp"
#include "zhalo/knn/within.hpp"
#include "zhalo/mesh/paint.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;

const Box box = Box::periodic_cube(1);

/// A hundred values of each rank, on its device and on the host.
template <class T>
struct Values {
  Values(const Context& context, const std::vector<T>& values)
      : of_host(values), of_device(to_exec(context.exec, Span<const T>(of_host), "values")) {}

  std::vector<T> of_host;
  Buffer<T> of_device;
};

/// Then nothing is wrong: the device shares the host's page tables.
bool reads_host(const Exec& exec) {
  const std::vector<int> own{1};
  return kernels::owner_of(std::get<Cuda>(exec), own.data()) == kernels::MemoryOwner::both;
}

struct Mistake {
  Context context;
  bool found = find_device(context) && !reads_host(context.exec);
  bool is_culprit = context.comm.rank() == context.comm.size() - 1;

  /// What the culprit gives is the host's.
  template <class T>
  const T* pick(const Values<T>& values) const {
    return is_culprit ? values.of_host.data() : values.of_device.data();
  }
  template <class Work>
  void check(const char* what, const Work& work) const {
    CHECK_THAT(input_error_of(context, work),
               Contains(std::string(what) + " cannot be used by CUDA device") &&
                   Contains("the memory is the host's (copy it to the device"));
  }
};

std::vector<float> positions() {
  PointSet<float> points{{}, box, 0.1};
  Random random(9);
  fill(points, random, Shape::uniform, 100);
  return points.pos;
}

Particles<float> at(const float* rows) {
  Particles<float> particles;
  particles.segments = {ParticleSegment<float>::interleaved(rows, 100, 3)};
  return particles;
}

}  // namespace

TEST_CASE("device: positions of the host are refused, whatever they are for") {
  const Mistake m;
  if (!m.found) return;
  const Values<float> pos(m.context, positions());
  const Particles<float> good = at(pos.of_device.data()), bad = at(m.pick(pos));
  Field<double> field(m.context, Decomposition(Grid{{{8, 8, 8}}, box}, m.context.comm.size()));

  m.check("positions", [&] { friends_of_friends(m.context, bad, box, {.linking_length = 0.1}); });
  m.check("positions", [&] { count_positions(m.context, bad, box); });
  m.check("positions", [&] { const Domain<float> domain(m.context, bad, box); });
  m.check("positions", [&] { knn(m.context, bad, box, {.k = 4}); });
  m.check("positions", [&] { knn(m.context, Queries{bad, good}, box, {.k = 4}); });
  m.check("positions", [&] { neighbour_quantity(m.context, bad, box, {.k = 4}, {}); });
  m.check("positions", [&] { count_within(m.context, bad, box, {.radius = 0.1}); });
  m.check("positions", [&] { paint(m.context, bad, field); });
  m.check("positions", [&] { readout(m.context, field, bad); });
  CHECK(knn(m.context, good, box, {.k = 4}).num_rows == 100);
}

TEST_CASE("device: numbers that a device cannot read where they are are refused") {
  const Mistake m;
  if (!m.found) return;
  const Values<double> pos(m.context, std::vector<double>(400, 0.5));
  const auto* const first = reinterpret_cast<const char*>(pos.of_device.data());
  for (const auto& [begin, stride] : {std::pair{Index{4}, Index{24}}, {Index{0}, Index{28}}}) {
    Particles<double> bad;
    bad.segments.resize(1);
    bad.segments[0].num = 100;
    const auto* const at = reinterpret_cast<const double*>(first + (m.is_culprit ? begin : 0));
    for (std::size_t axis = 0; axis < 3; ++axis)
      bad.segments[0].pos[axis] = {at + axis, m.is_culprit ? stride : Index{24}};
    CHECK_THAT(
        input_error_of(m.context, [&] { const Domain<double> domain(m.context, bad, box); }),
        Contains("positions are numbers of 8 bytes at address") && Contains("multiples of 8"));
  }
}

TEST_CASE("device: columns of the host are refused") {
  const Mistake m;
  if (!m.found) return;
  const Values<float> pos(m.context, positions()), one(m.context, std::vector<float>(300, 1.0F));
  const Values<Index> labels(m.context, std::vector<Index>(100, 0));
  const Particles<float> good = at(pos.of_device.data());
  Field<double> field(m.context, Decomposition(Grid{{{8, 8, 8}}, box}, m.context.comm.size()));
  const Span<const Index> label(m.pick(labels), 100);
  constexpr auto size = static_cast<Index>(sizeof(float));

  m.check("labels", [&] { make_catalogue(m.context, good, box, label, CatalogueOptions{}); });
  m.check("labels", [&] {
    attach_particles(m.context, LabelledParticles<float>{good, label}, good, box, 0.1);
  });
  m.check("the values of NeighbourLists::put", [&] {
    NeighbourSearch search;
    search.k = 2;
    NeighbourLists<float> lists(m.context, good, box, search);
    Buffer<Index> result(m.context.exec, 100, "results");
    while (lists.next()) lists.put(m.pick(labels), sizeof(Index), result.data());
  });
  m.check("values of a column", [&] {
    const Domain<float> domain(m.context, good, box);
    Buffer<float> room(m.context.exec, domain.num(), "a column");
    domain.to_domain_order({m.pick(one), 100, size, 0}, {room.data(), room.size(), size});
  });
  m.check("values of a column", [&] {
    knn(m.context, good, box, {.k = 4}, {.columns = {{m.pick(one), 100, size}}});
  });
  m.check("weights", [&] {
    paint(m.context, good, field, {.weights = Weights::column, .column = RealColumn(m.pick(one))});
  });
  Particles<float> heavy = good;
  heavy.segments[0].mass = RealColumn(m.pick(one));
  m.check("masses", [&] { paint(m.context, heavy, field); });
  Particles<float> moving = good;
  moving.segments[0].set_interleaved_velocity(m.pick(one));
  m.check("velocities",
          [&] { friends_of_friends(m.context, moving, box, {.linking_length = 0.1}); });
}

TEST_CASE("device: arrays of the host are refused by Fourier transforms and redistribute()") {
  const Mistake m;
  if (!m.found) return;
  const Decomposition decomposition(Grid{{{8, 8, 8}}, box}, m.context.comm.size());
  Fft<double> fft(m.context, decomposition);
  const auto num_cells = static_cast<std::size_t>(fft.cells().size),
             num_modes = static_cast<std::size_t>(fft.modes().size);
  Values<double> cells(m.context, std::vector<double>(num_cells, 1.0));
  Values<double> moved(m.context, cells.of_host);
  Values<std::complex<double>> modes(m.context, std::vector<std::complex<double>>(num_modes));
  const Span<const double> given(m.pick(cells), fft.cells().size);
  const Span<std::complex<double>> taken(const_cast<std::complex<double>*>(m.pick(modes)),
                                         fft.modes().size);

  m.check("cells", [&] { fft.forward(given, modes.of_device.span()); });
  m.check("modes", [&] { fft.forward(cells.of_device.span(), taken); });
  m.check("modes", [&] { fft.backward(taken, cells.of_device.span()); });
  fft.forward(cells.of_device.span(), modes.of_device.span());

  const FieldLayout all = FieldLayout::of_cells(decomposition);
  m.check("the field that is moved",
          [&] { redistribute(m.context, all, given, all, moved.of_device.span()); });
}

TEST_CASE("device: memory of another device is refused") {
  const Mistake m;
  const DeviceReport report = query_devices();
  if (!m.found || report.num_devices < 2) return;
  const int own = m.context.comm.node_rank() % report.num_devices;
  const std::vector<float> rows = positions();
  const Exec other = cuda_exec((own + 1) % report.num_devices);
  const Buffer<float> elsewhere = to_exec(other, Span<const float>(rows), "positions");
  const Buffer<float> here = to_exec(m.context.exec, Span<const float>(rows), "positions");
  const Particles<float> particles = at(m.is_culprit ? elsewhere.data() : here.data());
  CHECK_THAT(input_error_of(
                 m.context,
                 [&] { friends_of_friends(m.context, particles, box, {.linking_length = 0.1}); }),
             Contains("positions cannot be used by CUDA device") &&
                 Contains("the memory is another device's (copy it there)"));
}
