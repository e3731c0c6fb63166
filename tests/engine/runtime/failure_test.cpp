#include "engine/runtime/failure.h"

#include <gtest/gtest.h>

#include <new>

namespace {

using engine::ErrorCode;

TEST(ErrorOf, KeepsWhatAnEngineFailureSays)
{
    const auto error = engine::errorOf(
        std::make_exception_ptr(engine::EngineFailure(ErrorCode::Output, "The disk is full.", "write: ENOSPC")), 3);
    EXPECT_EQ(error.code, ErrorCode::Output);
    EXPECT_EQ(error.message, "The disk is full.");
    EXPECT_EQ(error.detail, "write: ENOSPC");
    EXPECT_EQ(error.rank, 3);
}

TEST(ErrorOf, LeavesTheRankThatAFailureNamesItself)
{
    const engine::EngineFailure failure({.code = ErrorCode::Device, .message = "No driver.", .detail = "", .rank = 1});
    EXPECT_EQ(engine::errorOf(std::make_exception_ptr(failure), 3).rank, 1);
}

TEST(ErrorOf, TellsOutOfMemoryFromOtherExceptions)
{
    EXPECT_EQ(engine::errorOf(std::make_exception_ptr(std::bad_alloc())).code, ErrorCode::OutOfMemory);
    const auto unknown = engine::errorOf(std::make_exception_ptr(std::logic_error("index 7")));
    EXPECT_EQ(unknown.code, ErrorCode::Internal);
    EXPECT_EQ(unknown.detail, "index 7");
    EXPECT_EQ(unknown.rank, -1);
    EXPECT_EQ(engine::errorOf(std::make_exception_ptr(7)).code, ErrorCode::Internal);
}

} // namespace
