/// Stopping in order when the user asks: temporary files go, and nothing half-written stays.
#pragma once

namespace zhalo::app {

/// From now on a file that would grow beyond the limit of files (ulimit -f) is an error, not a
/// signal that ends the process.
void take_file_limits_as_errors();

/// From now on the first SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1 or SIGUSR2 is only noted;
/// another of its kind, more than two seconds later, ends the process at once. Under nohup SIGHUP
/// stays without effect.
void catch_interrupts();

/// Throws Interrupted if a signal was noted.
void check_interrupted();

/// From now on check_interrupted never throws: the results are being put in their places.
void finish_without_interrupts();

/// From now on signals end the process at once: there is nothing left to clean up.
void release_interrupts();

}  // namespace zhalo::app
