/// Reports for machines: the only header of the house behind which nlohmann's JSON library stands.
#pragma once

#include <array>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "zhalo/core/types.hpp"
#include "zhalo/core/vec.hpp"

namespace zhalo::app {

/// A JSON value; the members of objects keep the order in which they were given.
class Json {
 public:
  struct Member;

  Json() : Json(nullptr) {}
  Json(std::nullptr_t);  // NOLINT(google-explicit-constructor): values stand for themselves in
                         // reports; so for all below
  Json(bool value);
  Json(Index value);
  Json(std::size_t value);
  /// NaN and infinities are null.
  Json(double value);
  Json(const char* value);
  Json(const std::string& value);
  Json(std::initializer_list<Member> members);
  /// Other integers.
  template <class T>
  requires std::is_integral_v<T> &&(sizeof(T) < sizeof(Index)) Json(T value)
      : Json(static_cast<Index>(value)) {}
  template <class T>
  Json(const std::vector<T>& values) : Json(array_of(values)) {}
  template <class T, std::size_t n>
  Json(const std::array<T, n>& values) : Json(array_of(values)) {}
  template <class T>
  Json(const std::optional<T>& value) : Json(value ? Json(*value) : Json(nullptr)) {}
  Json(const Vec3d& value) : Json(array_of(std::array{value[0], value[1], value[2]})) {}
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  static Json array();
  static Json object() { return Json(std::initializer_list<Member>{}); }
  /// Of an array.
  void push_back(const Json& value);
  /// Of an object: the member of that name, made if there is none.
  void set(const char* name, const Json& value);
  /// Adds the members of another object; null has none.
  void update(const Json& other);

  /// Indented text with a newline at its end; bytes that are no UTF-8 are replaced.
  std::string text() const;

 private:
  struct Value;

  template <class Values>
  static Json array_of(const Values& values) {
    Json all = array();
    for (const auto& value : values) all.push_back(value);
    return all;
  }

  std::unique_ptr<Value> value_;
};

struct Json::Member {
  const char* name;
  Json value;
};

}  // namespace zhalo::app
