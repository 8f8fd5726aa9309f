#include "zhalo/knn/reduce.hpp"

#include "src/core/validate.hpp"

namespace zhalo {

void validate_column(std::string_view name, Index num, Index num_particles) {
  validate(num == num_particles,
           "{} has {} elements on this rank, which has {}: it must have one for each", name, num,
           num_particles);
}

}  // namespace zhalo
