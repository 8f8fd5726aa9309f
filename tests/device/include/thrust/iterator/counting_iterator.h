/// A stand-in for Thrust's iterator over the numbers themselves.
#pragma once

namespace thrust {

template <class Number>
class counting_iterator {
 public:
  explicit counting_iterator(Number first) : first_(first) {}

  template <class Offset>
  Number operator[](Offset i) const {
    return first_ + static_cast<Number>(i);
  }

 private:
  Number first_;
};

}  // namespace thrust
