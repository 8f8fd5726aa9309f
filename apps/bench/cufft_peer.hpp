/// cuFFT's own transforms of a cube, to be timed beside ours.
#pragma once

#include <memory>

#include "zhalo/core/exec.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::bench {

/// A real field to its half spectrum and back, in place and without any factor: one plan in three
/// dimensions each way. Rows of cells and of modes have room for num / 2 + 1 complex numbers, and
/// nothing lies between them. T: float or double.
template <class T>
class CufftCube {
 public:
  /// `exec` must be a device. InputError without one.
  CufftCube(const Exec& exec, Index num);
  ~CufftCube();
  CufftCube(const CufftCube&) = delete;
  CufftCube& operator=(const CufftCube&) = delete;

  /// Of the field, in reals.
  Index size() const { return num_ * num_ * 2 * (num_ / 2 + 1); }
  Index workspace_bytes() const;
  /// Both only queue their work.
  void forward(T* field);
  void backward(T* field);

 private:
  struct Plans;
  Index num_;
  std::unique_ptr<Plans> plans_;
};

extern template class CufftCube<float>;
extern template class CufftCube<double>;

}  // namespace zhalo::bench
