/* A C project: the first two of three particles are friends, across the edge of the box. */
#include <stdio.h>
#include <zhalo/zhalo.h>

int main(void) {
  const float rows[3][3] = {{0.01F, 0.5F, 0.5F}, {0.98F, 0.5F, 0.5F}, {0.3F, 0.5F, 0.5F}};
  const zhalo_box box = {{0, 0, 0}, {1, 1, 1}, {1, 1, 1}};
  zhalo_particles particles = {.num = 3};
  zhalo_context* context = NULL;
  zhalo_domain* domain = NULL;
  zhalo_groups* groups = NULL;
  int64_t labels[3] = {-1, -1, -1};
  const int failed = zhalo_set_rows(particles.position, rows, ZHALO_FLOAT, 3) ||
                     zhalo_context_create_alone(NULL, &context) ||
                     zhalo_domain_create(context, &particles, 1, &box, NULL, &domain) ||
                     zhalo_find_groups(domain, 0.05, &groups) ||
                     zhalo_groups_get_labels(groups, 0, labels, 3);
  if (failed) fprintf(stderr, "%s\n", zhalo_last_error());
  printf("%d %d %d\n", (int)labels[0], (int)labels[1], (int)labels[2]);
  zhalo_groups_destroy(groups);
  zhalo_domain_destroy(domain);
  zhalo_context_destroy(context);
  return failed;
}
