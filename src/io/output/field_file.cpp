#include "zhalo/io/field_file.hpp"

#include "src/comm/agreement.hpp"
#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"
#include "src/io/output/file_set.hpp"
#include "zhalo/fft/decomposition.hpp"

namespace zhalo::io {

using hdf5::OutputFile;

namespace {

/// Where this rank's own cells lie, from the first of them on; ghosts are gaps.
template <class T>
BoxLayout own_layout(const Field<T>& field) {
  const IndexBox& cells = field.cells();
  if (cells.empty()) return {cells, field.layout().stride, 0};
  return {cells, field.layout().stride, field.layout().size - field.layout().offset(cells.lo)};
}

template <class T>
Span<const T> own_cells(const Field<T>& field, const BoxLayout& own) {
  return {own.size == 0 ? nullptr : field.span().data() + field.layout().offset(own.index_box.lo),
          own.size};
}

/// Whole planes x without gaps: files hold them so.
bool is_planes(const BoxLayout& layout, const Grid& grid) {
  const IndexBox& index_box = layout.index_box;
  return index_box.empty() ||
         (layout == layout_of(index_box) && index_box.length(1) == grid.num[1] &&
          index_box.length(2) == grid.num[2]);
}

/// This rank's planes on the host: the field's own memory, or a copy.
template <class T>
class HostPlanes {
 public:
  /// Collective.
  HostPlanes(const Context& context, const Field<T>& field) {
    context.comm.together([&] { collect(context, field); });
  }
  Span<const T> cells() const { return cells_; }

 private:
  void collect(const Context& context, const Field<T>& field) {
    const BoxLayout own = own_layout(field);
    const bool ready =
        context.comm.min(is_planes(own, field.decomposition().grid()) ? Index{1} : Index{0}) == 1;
    if (!ready) planes_ = gather_planes(context, field, own);
    cells_ = ready ? own_cells(field, own) : planes_.span();
    if (std::holds_alternative<Host>(context.exec)) return;
    copy_ = to_host(context.exec, cells_);
    cells_ = copy_;
  }
  static Buffer<T> gather_planes(const Context& context, const Field<T>& field,
                                 const BoxLayout& own) {
    const FieldLayout from{context.comm.all_gather(own)};
    const Decomposition slabs(field.decomposition().grid(), context.comm.size(),
                              {.shape = {context.comm.size(), 1}});
    Buffer<T> planes(context.exec, slabs.cells(context.comm.rank()).size(), "planes of a field");
    redistribute(context, from, own_cells(field, own), FieldLayout::of_cells(slabs), planes.span());
    return planes;
  }

  Buffer<T> planes_;
  std::vector<T> copy_;
  Span<const T> cells_;
};

std::vector<double> list_of(const Vec3d& v) { return {v[0], v[1], v[2]}; }

std::vector<Note> notes_of(const FieldRecord& record, const Grid& grid) {
  std::vector<Note> notes = record.notes;
  notes.push_back({"GridSize", std::vector<Index>{grid.num[0], grid.num[1], grid.num[2]}});
  notes.push_back({"BoxCorner", list_of(grid.box.lo)});
  notes.push_back({"BoxSize", list_of(grid.box.length)});
  return notes;
}

template <class T>
hdf5::DatasetView planes_of(Span<const T> cells, const Grid& grid) {
  hdf5::DatasetView planes = hdf5::cells_of(cells, grid.num[1] * grid.num[2]);
  planes.row_shape = {grid.num[1], grid.num[2]};
  return planes;
}

}  // namespace

template <class T>
void write_field(StagedFiles& files, const Context& context, const Field<T>& field,
                 const FieldRecord& record, const SnapshotInfo& snapshot) {
  const Communicator& comm = files.comm();
  files.all_or_nothing([&] {
    validate(comm.size() == context.comm.size(),
             "files of {} ranks are to hold a field of {}: make both for the same", comm.size(),
             context.comm.size());
    validate(!record.name.empty(), "the files of a field have no name");
    validate_dataset_name(record.dataset);
    validate_equal(comm, numbers_of(sizeof(T), record.name, record.dataset),
                   "the name of a field's files, its dataset or the type of its cells");
    const FileShares shares = file_shares(comm, record.files);
    const HostPlanes<T> planes(context, field);
    const Grid& grid = field.decomposition().grid();
    const hdf5::DatasetView rows = planes_of(planes.cells(), grid);
    const Placement placement(comm, shares, rows.rows);

    FileSet set;
    set.prefix = record.name;
    set.units = snapshot.units;
    set.cosmological = snapshot.cosmological;
    set.columns = {
        {record.dataset, rows, &placement, record.meaning, notes_of(record, grid), "FirstPlane"}};
    set.single_is_whole = true;
    set.at_once = true;
    set.write_header = [&](OutputFile& file, const FileView& view) {
      write_common_header(file, view.num_files, snapshot);
      write_origin(file, snapshot);
      write_notes(file, "Parameters", record.parameters);
    };
    const PhaseTimer timer(context, "write");
    write_file_set(files, shares, set, record.files.master);
  });
}

ZHALO_FOR_REALS(write_field);

}  // namespace zhalo::io
