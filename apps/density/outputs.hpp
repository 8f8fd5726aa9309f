/// The files of a run, and what is written to them beside the numbers.
#pragma once

#include <optional>
#include <string>

#include "apps/density/plan.hpp"
#include "apps/report/results.hpp"
#include "zhalo/io/field_file.hpp"
#include "zhalo/io/staged_files.hpp"

namespace zhalo::density_app {

/// Found to be writable.
struct Outputs {
  std::optional<io::StagedFiles> field;
  app::TextFile power;
  app::TextFile image;

  /// Collective; FileError.
  Outputs(const Communicator& comm, const Plan& plan);

  app::Results results();
};

/// For a run that writes nothing: throws FileError if one of its results could not be written.
/// Collective.
void check_outputs(const Communicator& comm, const Plan& plan);

/// For the file of the field.
io::FieldRecord describe_field(const Plan& plan, const PaintReport& painted);

/// "snapshot_001, redshift 0.5".
std::string snapshot_text(const io::SnapshotInfo& info);

/// The spectrum as a text that people and numpy.loadtxt read.
std::string power_table(const Plan& plan, const PaintReport& painted,
                        const PowerSpectrum& spectrum);

}  // namespace zhalo::density_app
