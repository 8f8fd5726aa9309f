/// Ranks that are threads of one process.
#pragma once

#include <memory>
#include <string>

#include "src/comm/network.hpp"

namespace zhalo {

/// What the threads of a ThreadNetwork share.
class ThreadGroup;

std::shared_ptr<ThreadGroup> make_thread_group(int num_ranks);

/// The end of one rank, for the thread that is this rank.
std::unique_ptr<Network> make_thread_network(std::shared_ptr<ThreadGroup> group, int rank);

/// From now on all ranks that wait, or begin to wait, throw a CommunicationError with the first
/// `why`.
void give_up(ThreadGroup& group, const std::string& why) noexcept;
bool is_given_up(const ThreadGroup& group);
/// The first `why`; empty: none.
std::string why_given_up(const ThreadGroup& group);

}  // namespace zhalo
