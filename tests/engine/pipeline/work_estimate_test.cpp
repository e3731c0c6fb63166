#include "engine/pipeline/work_estimate.h"

#include <gtest/gtest.h>

namespace {

// The published figures for Nano at 1280x720, 189 frames (cosmos3 reference 22, performance guide 10).
TEST(WorkEstimate, AgreesWithTheKnownFiguresOfNano)
{
    engine::TransformerConfig nano;
    nano.hiddenSize = 4096;
    nano.layers = 36;
    nano.heads = 32;
    nano.keyValueHeads = 8;
    nano.headDim = 128;
    nano.intermediateSize = 12288;
    const engine::LatentGeometry geometry{.frames = 48, .height = 45, .width = 80};
    EXPECT_EQ(geometry.tokens(), 44160);
    EXPECT_NEAR(engine::generationPassFlops(nano, geometry, 300) / 1.80e15, 1, 0.02);

    engine::VaeConfig wan;
    wan.decoderBaseDim = 256;
    wan.dimMult = {1, 2, 4, 4};
    wan.temporalDownsample = {false, true, true};
    const double perVoxel =
        engine::decodeFrameFlops(wan, geometry) / static_cast<double>(geometry.height * geometry.width);
    EXPECT_NEAR(perVoxel / 1.88e10, 1, 0.05);
}

} // namespace
