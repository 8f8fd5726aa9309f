#include "apps/report/json.hpp"

#include <nlohmann/json.hpp>

namespace zhalo::app {

using nlohmann::ordered_json;

struct Json::Value {  // NOLINT(bugprone-exception-escape): moving a value only checks it
  ordered_json json;
};

Json::Json(std::nullptr_t) : value_(std::make_unique<Value>()) {}
Json::Json(bool value) : value_(std::make_unique<Value>(Value{value})) {}
Json::Json(Index value) : value_(std::make_unique<Value>(Value{value})) {}
Json::Json(std::size_t value) : value_(std::make_unique<Value>(Value{value})) {}
Json::Json(double value) : value_(std::make_unique<Value>(Value{value})) {}
Json::Json(const char* value) : value_(std::make_unique<Value>(Value{value})) {}
Json::Json(const std::string& value) : value_(std::make_unique<Value>(Value{value})) {}
Json::Json(std::initializer_list<Member> members)
    : value_(std::make_unique<Value>(Value{ordered_json::object()})) {
  for (const Member& member : members) set(member.name, member.value);
}
Json::Json(const Json& other) : value_(std::make_unique<Value>(*other.value_)) {}
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) {
  value_ = std::make_unique<Value>(*other.value_);
  return *this;
}
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json Json::array() {
  Json all;
  all.value_->json = ordered_json::array();
  return all;
}

void Json::push_back(const Json& value) { value_->json.push_back(value.value_->json); }
void Json::set(const char* name, const Json& value) { value_->json[name] = value.value_->json; }
void Json::update(const Json& other) {
  if (!other.value_->json.is_null()) value_->json.update(other.value_->json);
}

std::string Json::text() const {
  return value_->json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace zhalo::app
