/// Stopping in order when the user asks: temporary files go, and nothing half-written stays.
#pragma once

namespace zhalo::app {

/// From now on the first SIGINT or SIGTERM is only noted; the second ends the process at once.
void catch_interrupts();

/// Throws Interrupted if a signal was noted.
void check_interrupted();

/// From now on check_interrupted never throws: the results are being put in their places.
void finish_without_interrupts();

/// From now on signals end the process at once: there is nothing left to clean up.
void release_interrupts();

}  // namespace zhalo::app
