#include "engine/api/outcome.h"
#include "engine/weights/safetensors_file.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace {

using namespace engine;
using ::testing::HasSubstr;

constexpr auto kShard = "transformer/diffusion_pytorch_model-00001-of-00002.safetensors";

template <typename Work>
std::string refusal(Work work, ErrorCode code = ErrorCode::ModelFiles)
{
    try {
        work();
    } catch (const EngineFailure &failure) {
        EXPECT_EQ(failure.error().code, code);
        return failure.error().message;
    }
    return "nothing was refused";
}

struct BadHeader {
    const char *json;
    std::uint64_t dataBytes;
    const char *sentence;
};

TEST(SafetensorsFile, RefusesEveryDamagedHeaderWithTheReason)
{
    const std::string deep = R"({"a":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
    const std::vector<BadHeader> rows{
        {"", 0, "is not JSON"},
        {"[]", 0, "not a JSON object"},
        {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})", 4, "is not JSON"},
        {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{}})", 4, "\"a\" occurs twice"},
        {R"({"a":{"dtype":"F32","dtype":"F16","shape":[1],"data_offsets":[0,4]}})", 4, "\"dtype\" occurs twice"},
        {R"({"a":7})", 0, "lacks dtype, shape or data_offsets"},
        {R"({"a":{"dtype":"F32","shape":[1]}})", 4, "lacks dtype, shape or data_offsets"},
        {R"({"a":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}})", 4, "unknown type \"F31\""},
        {R"({"a":{"dtype":[32],"shape":[1],"data_offsets":[0,4]}})", 4, "unknown type [32]"},
        {R"({"a":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})", 4, "shape of tensor \"a\" is not a list"},
        {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "not a whole number"},
        {R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4, "not a whole number"},
        {R"({"a":{"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,4]}})", 4, "is absurd"},
        {R"({"a":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,0]}})", 0, "is absurd"},
        {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4, "not a pair"},
        {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "truncated or damaged"},
        {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 3, "ends at byte 4 of a data part of 3 bytes"},
        {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "does not fit its 4 bytes"},
        {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
         6, "\"b\" overlaps"},
        {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[6,10]}})",
         10, "hole before tensor \"b\""},
        {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 9, "5 bytes at its end belong to no tensor"},
        {R"({"__metadata__":[]})", 0, "metadata is not a JSON object"},
        {R"({"__metadata__":{"format":1}})", 0, "not text"},
        {deep.c_str(), 0, "deeper than 64 levels"},
    };
    for (const auto &row : rows) {
        const auto message = refusal([&] { parseSafetensorsHeader(row.json, row.dataBytes, "part/file.safetensors"); });
        EXPECT_THAT(message, HasSubstr(row.sentence));
        EXPECT_THAT(message, HasSubstr("part/file.safetensors"));
    }
}

TEST(SafetensorsFile, KeepsHostileNamesOutOfItsSentences)
{
    const auto message =
        refusal([] { parseSafetensorsHeader("{\"\\u0007" + std::string(5000, 'x') + "\":7}", 0, "file"); });
    EXPECT_LT(message.size(), 300U);
    EXPECT_EQ(message.find('\a'), std::string::npos);
}

TEST(SafetensorsFile, RefusesAHeaderLongerThanTheFile)
{
    const golden::TemporaryCheckpoint copy(golden::checkpoint("tiny-edge"));
    auto bytes = copy.read(kShard);
    const std::uint64_t length = bytes.size();
    std::memcpy(bytes.data(), &length, sizeof(length));
    copy.write(kShard, bytes);
    EXPECT_THAT(refusal([&] { const SafetensorsFile file(copy.folder() / kShard); }),
                HasSubstr("its header should take " + std::to_string(length)));
}

TEST(SafetensorsFile, RefusesFilesThatAreNoSafetensors)
{
    const golden::TemporaryCheckpoint copy(golden::checkpoint("tiny-edge"));
    const auto open = [&] { return refusal([&] { const SafetensorsFile file(copy.folder() / kShard); }); };
    copy.write(kShard, "");
    EXPECT_THAT(open(), HasSubstr("is truncated: it holds 0 bytes"));
    copy.write(kShard, "1234567");
    EXPECT_THAT(open(), HasSubstr("is truncated: it holds 7 bytes"));
    copy.write(kShard, "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
    EXPECT_THAT(open(), HasSubstr("Git LFS pointer"));
    copy.write(kShard, "PK\x03\x04 this is an archive, not weights");
    EXPECT_THAT(open(), HasSubstr("no safetensors file"));
    copy.remove(kShard);
    EXPECT_THAT(open(), HasSubstr("cannot be opened (No such file or directory)"));
    ASSERT_EQ(mkfifo((copy.folder() / kShard).c_str(), 0600), 0);
    EXPECT_THAT(open(), HasSubstr("is not a regular file"));
}

TEST(SafetensorsFile, ReadsBackWhatItWrote)
{
    const golden::TemporaryCheckpoint place(golden::checkpoint("tiny-edge") / "scheduler");
    const std::array<float, 6> floats{1, -2, 3.5F, 0, 1e-30F, 7};
    const std::array<std::uint8_t, 3> pixels{0, 128, 255};
    const std::vector<TensorToWrite> tensors{
        {.name = "frames", .type = TensorType::UInt8, .shape = {1, 1, 1, 3}, .data = std::as_bytes(std::span(pixels))},
        {.name = "latents", .type = TensorType::Float32, .shape = {2, 3}, .data = std::as_bytes(std::span(floats))},
        {.name = "empty", .type = TensorType::Float32, .shape = {0, 3}, .data = {}},
    };
    const auto path = place.folder() / "out.safetensors";
    writeSafetensors(path, tensors, false);
    const SafetensorsFile file(path);
    EXPECT_EQ(file.header().metadata.at("format"), "pt");
    ASSERT_EQ(file.header().tensors.size(), 3U);
    for (const auto &tensor : tensors) {
        const auto &entry = file.header().tensors.at(tensor.name);
        EXPECT_EQ(entry.type, tensor.type);
        EXPECT_EQ(entry.shape, tensor.shape);
        const auto data = file.data(entry);
        ASSERT_EQ(data.size(), tensor.data.size());
        EXPECT_TRUE(std::equal(data.begin(), data.end(), tensor.data.begin()));
        if (!data.empty()) {
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data.data()) % tensorTypeSize(tensor.type), 0U) << tensor.name;
        }
    }
}

TEST(SafetensorsFile, ReplacesAnExistingFileOnlyWhenAsked)
{
    const golden::TemporaryCheckpoint place(golden::checkpoint("tiny-edge") / "scheduler");
    const auto path = place.folder() / "out.safetensors";
    writeSafetensors(path, {}, false);
    EXPECT_THAT(refusal([&] { writeSafetensors(path, {}, false); }, ErrorCode::Output), HasSubstr("exists already"));
    const std::array<float, 1> one{1};
    writeSafetensors(
        path, {{.name = "a", .type = TensorType::Float32, .shape = {1}, .data = std::as_bytes(std::span(one))}}, true);
    EXPECT_EQ(SafetensorsFile(path).header().tensors.size(), 1U);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(place.folder()), {}), 2); // no temporary file is left
}

TEST(SafetensorsFile, SaysWhenTheDiskIsFull)
{
    if (!std::filesystem::exists("/dev/full"))
        GTEST_SKIP() << "there is no /dev/full here";
    EXPECT_THAT(refusal([] { writeSafetensors("/dev/full", {}, true); }, ErrorCode::Output), HasSubstr("/dev/full"));
    EXPECT_THAT(refusal([] { writeSafetensors("/no/such/folder/x.safetensors", {}, false); }, ErrorCode::Output),
                HasSubstr("/no/such/folder"));
}

TEST(SafetensorsFile, RefusesToWriteAShapeThatDoesNotFit)
{
    const std::array<float, 1> one{1};
    const TensorToWrite wrong{
        .name = "a", .type = TensorType::Float32, .shape = {2}, .data = std::as_bytes(std::span(one))};
    const TensorToWrite right{
        .name = "a", .type = TensorType::Float32, .shape = {1}, .data = std::as_bytes(std::span(one))};
    EXPECT_THAT(refusal([&] { writeSafetensors("x.safetensors", {wrong}, false); }, ErrorCode::Internal),
                HasSubstr("\"a\""));
    EXPECT_THAT(refusal(
                    [&] {
                        writeSafetensors("x.safetensors", {right, right}, false);
                    },
                    ErrorCode::Internal),
                HasSubstr("its name repeats"));
}

} // namespace
