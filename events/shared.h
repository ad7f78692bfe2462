#pragma once
// A value that is made once and never changed, shared by all who copy it: a copy costs a count, not a value. Compared,
// walked and written as the value itself.

#include <memory>
#include <utility>

namespace lockstep {

template <class T>
class Shared {
 public:
  Shared() : value_(blank()) {}
  Shared(T value) : value_(std::make_shared<const T>(std::move(value))) {}  // NOLINT: it is one
  // Not null.
  explicit Shared(std::shared_ptr<const T> value) : value_(std::move(value)) {}

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  [[nodiscard]] const std::shared_ptr<const T>& pointer() const { return value_; }
  friend bool operator==(const Shared& a, const Shared& b) { return a.value_ == b.value_ || *a == *b; }

 private:
  static const std::shared_ptr<const T>& blank() {
    static const auto value = std::make_shared<const T>();
    return value;
  }
  std::shared_ptr<const T> value_;
};

}  // namespace lockstep
