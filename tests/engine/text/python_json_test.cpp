#include "engine/api/outcome.h"
#include "engine/text/python_json.h"
#include "tests/engine/text/reference.h"

#include <gtest/gtest.h>

#include <limits>

namespace {

using engine::PythonJsonObject;

TEST(PythonJson, ReadsAndWritesObjectsAsPythonDoes)
{
    const auto cases = reference::table("text-more").at("json");
    ASSERT_GE(cases.size(), 300U);
    for (const auto &item : cases) {
        const auto text = item.at(0).get<std::string>();
        const auto object = PythonJsonObject::parse(text);
        ASSERT_EQ(object.has_value(), !item.at(1).is_null()) << text;
        if (object) {
            EXPECT_EQ(object->dump(), item.at(1).get<std::string>()) << text;
        }
    }
}

TEST(PythonJson, SettingAKeyKeepsItsPlaceAndErasingOneKeepsTheOrder)
{
    auto object = PythonJsonObject::parse(R"({"a": 1, "b": 2, "c": 3, "a": 4})");
    ASSERT_TRUE(object);
    object->set("b", "5");
    object->set("é", "6");
    object->erase("a");
    object->erase("nothing");
    object->set("c", "7");
    EXPECT_EQ(object->dump(), R"({"b": 5, "c": 7, "\u00e9": 6})");
}

TEST(PythonJson, WritesFloatsAsPythonsRepr)
{
    EXPECT_EQ(engine::pythonFloat(24), "24.0");
    EXPECT_EQ(engine::pythonFloat(29.97), "29.97");
    EXPECT_EQ(engine::pythonFloat(1e-7), "1e-07");
    EXPECT_EQ(engine::pythonFloat(1e16), "1e+16");
    EXPECT_EQ(engine::pythonFloat(-0.0), "-0.0");
    EXPECT_EQ(engine::pythonFloat(5e-324), "5e-324");
    EXPECT_EQ(engine::pythonFloat(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
    EXPECT_EQ(engine::pythonFloat(-std::numeric_limits<double>::infinity()), "-Infinity");
}

TEST(PythonJson, RefusesObjectsNestedDeeperThanPythonCanRead)
{
    const auto nested = [](int depth) {
        std::string text;
        for (int i = 0; i < depth; ++i)
            text += "{\"a\":";
        return text + "1" + std::string(static_cast<std::size_t>(depth), '}');
    };
    EXPECT_TRUE(PythonJsonObject::parse(nested(994)));
    EXPECT_THROW(static_cast<void>(PythonJsonObject::parse(nested(995))), engine::EngineFailure);
    EXPECT_THROW(static_cast<void>(PythonJsonObject::parse(nested(100'000))), engine::EngineFailure);
    EXPECT_FALSE(PythonJsonObject::parse(std::string(100'000, '['))); // no object, so a plain text
}

} // namespace
