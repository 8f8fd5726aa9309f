/// RawOptions for what was made: in files, pictures and reports.
#pragma once

#include <string>

#include "apps/density/plan.hpp"
#include "zhalo/io/field_file.hpp"

namespace zhalo::density_app {

constexpr const char* axis_names = "xyz";

/// "none", "window", "shot-noise".
const char* name_of(Compensation compensation);

/// "CIC, interlaced".
std::string window_text(const Options& options);

/// "snapshot_001, redshift 0.5".
std::string snapshot_text(const io::SnapshotInfo& info);

/// "z from 0 to 10 Mpc/h".
std::string layer_text(const Plan& plan);

/// For the file of the field.
io::FieldRecord describe_field(const Plan& plan, const PaintReport& painted);

}  // namespace zhalo::density_app
