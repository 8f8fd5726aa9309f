/// Groups of every kind, and ways to spread particles over ranks.
#pragma once

#include <functional>
#include <memory>

#include "tests/mpi/catalogue/catalogue_case.hpp"
#include "tests/support/host_context.hpp"

namespace zhalo::testing {

/// Positions are exact in single precision, so that they are the same for float and double.
inline void fill_columns(Sample& sample, Random& random, double spread) {
  const int dimensions = sample.box.dimensions;
  std::map<Index, Vec3d> centres;
  for (const Index label : sample.label) {
    Vec3d position;
    for (int axis = 0; axis < dimensions; ++axis) position[axis] = random.uniform();
    const Vec3d& centre = centres.try_emplace(label, position).first->second;
    for (int axis = 0; axis < dimensions; ++axis) {
      const double x = centre[axis] + spread * random.uniform(-0.5, 0.5);
      const double inside = x - std::floor(x);
      const double image =
          sample.box.periodic[axis] && random.one_in(8) ? random.pick({-1.0, 1.0}) : 0.0;
      sample.pos.push_back((image + std::floor(inside * 0x1p20) * 0x1p-20) *
                               sample.box.length[axis] +
                           sample.box.lo[axis]);
      sample.velocity.push_back(random.uniform(-300, 300));
    }
    sample.mass.push_back(random.uniform(0.5, 1.5));
    sample.type.push_back(static_cast<std::uint8_t>(random.below(sample.options.num_types)));
  }
}

inline Sample make_sample(
    const std::string& name, Index num, double spread, const std::function<Index(Index)>& part,
    const std::function<void(Sample&)>& change = [](Sample&) {}) {
  Sample sample;
  sample.name = name;
  std::vector<Index> parts;
  for (Index i = 0; i < num; ++i) parts.push_back(part(i));
  sample.label = labels_of(parts);
  change(sample);
  Random random(7);
  fill_columns(sample, random, spread);
  return sample;
}

using Samples = std::vector<Sample>;
using Change = std::function<void(Sample&)>;

inline Change with(const CatalogueOptions& options) {
  return [options](Sample& sample) { sample.options = options; };
}

/// Particles that belong to any of so many groups.
inline std::function<Index(Index)> any_of(Index parts) {
  return [parts, random = std::make_shared<Random>(11)](Index) { return random->below(parts); };
}

inline void add_extremes(Samples& samples, int size) {
  const auto own = [](Index i) { return i; };
  const auto one = [](Index) { return Index{0}; };
  samples.push_back(make_sample("one group with everything", 700, 0.2, one));
  samples.push_back(make_sample("one group all over the box", 700, 1, one));
  samples.push_back(make_sample("every particle a group", 300, 0, own, with({1, 3})));
  samples.push_back(make_sample("no group", 300, 0, own));
  samples.push_back(make_sample("one particle", 1, 0, own, with({1, 1})));
  const auto pairs = [](Index i) { return i / 2; };
  samples.push_back(
      make_sample("fewer particles than ranks", std::max(1, size - 1), 0.1, pairs, with({1, 2})));
  samples.push_back(make_sample("nothing", 0, 0, own));
}

inline void add_orders(Samples& samples) {
  samples.push_back(
      make_sample("groups of equal length", 800, 0.1, [](Index i) { return (i * 37) % 100; }));
  samples.push_back(
      make_sample("equal length, labels all low", 800, 0.1, [](Index i) { return i % 100; }));
  samples.push_back(
      make_sample("equal length, one after the other", 800, 0.1, [](Index i) { return i / 8; }));
  const auto giant = [](Index i) { return i % 3 != 0 ? Index{-1} : i / 12; };
  samples.push_back(make_sample("a giant and many small ones", 1000, 0.3, giant));
  samples.push_back(make_sample("two giants over the box", 1000, 1, [](Index i) { return i % 2; }));
}

inline void add_options_and_boxes(Samples& samples) {
  samples.push_back(make_sample("random groups", 900, 0.1, any_of(90)));
  samples.push_back(
      make_sample("random groups, most too small", 900, 0.1, any_of(200), with({6, 3})));
  samples.push_back(make_sample("twenty types", 600, 0.1, any_of(5), with({2, 20})));
  samples.push_back(make_sample("one type", 600, 0.1, any_of(5), with({2, 1})));
  samples.push_back(make_sample("a plane", 500, 0.4, any_of(20),
                                [](Sample& s) { s.box = Box::periodic_cube(4, 2); }));
  samples.push_back(make_sample("an open box", 500, 0.4, any_of(20), [](Sample& s) {
    s.box = Box::unbounded();
    s.box.length = {{2, 2, 2}};
  }));
  samples.push_back(make_sample("an axis with edges", 500, 0.9, any_of(4), [](Sample& s) {
    s.box.periodic[1] = false;
    s.box.lo = {{-0.5, 2, 8}};
    s.box.length = {{1, 2, 4}};
  }));
}

/// Particles that were attached: some to no group, some to groups whose label is none of their
/// members.
inline void add_attached(Samples& samples) {
  const auto lose = [](Index one_in, const CatalogueOptions& options) {
    return [one_in, options](Sample& sample) {
      Random random(5);
      for (Index& label : sample.label)
        label = random.one_in(static_cast<int>(one_in)) ? no_group : label;
      sample.options = options;
    };
  };
  samples.push_back(make_sample("some in no group", 900, 0.1, any_of(60), lose(3, {2, 3})));
  samples.push_back(make_sample("hardly any in a group", 900, 0.1, any_of(300), lose(50, {1, 3})));
  samples.push_back(make_sample("all in no group", 300, 0.1, any_of(3), lose(1, {1, 3})));
  samples.push_back(make_sample("one type counts", 900, 0.1, any_of(90), with({4, 3, {1}})));
  samples.push_back(
      make_sample("two of twenty types count", 900, 0.1, any_of(30), with({4, 20, {19, 0}})));
  samples.push_back(
      make_sample("one type counts, some in no group", 900, 0.1, any_of(60), lose(4, {4, 3, {2}})));
  const auto giant = [](Index i) { return i % 3 != 0 ? Index{-1} : i / 12; };
  samples.push_back(
      make_sample("a giant, one type counts", 1000, 0.3, giant, lose(5, {2, 3, {0}})));
  samples.push_back(make_sample(
      "the last label alone, one type counts", 700, 0.2, [](Index) { return Index{0}; },
      [](Sample& s) {
        s.label.assign(s.label.size(), s.num() - 1);
        s.options = {1, 3, {1}};
      }));
}

inline Samples all_samples(int size) {
  Samples samples;
  add_extremes(samples, size);
  add_orders(samples);
  add_options_and_boxes(samples);
  add_attached(samples);
  return samples;
}

}  // namespace zhalo::testing
