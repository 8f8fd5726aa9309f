#include "apps/fof/exchanged.hpp"

namespace zhalo::fof_app {

Exchanged exchanged_over_ranks(const Communicator& comm, const FofStatistics& mine) {
  const auto spread = [&](Index count) { return app::spread_of(comm, static_cast<double>(count)); };
  return {spread(mine.num_local), spread(mine.ghosts_sent), comm.sum(mine.edges),
          comm.max(mine.rounds), spread(mine.bytes_sent)};
}

}  // namespace zhalo::fof_app
