#include "engine/pipeline/device_choice.h"

#include "engine/kernels/cpu_rows.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#ifdef PARALLAX_CUDA
    #include <cuda_runtime_api.h>
#endif

namespace engine {

namespace {

#ifdef PARALLAX_CUDA
std::string version(int number) // 13000 -> "13.0"
{
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

// Why no GPU can be used; empty when one can.
std::string gpuObstacle()
{
    int count = 0;
    const auto result = cudaGetDeviceCount(&count);
    if (result == cudaSuccess && count > 0)
        return {};
    int driver = 0;
    int runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0)
        return "no NVIDIA driver is loaded; install one for CUDA " + version(runtime) + ", or use --device cpu.";
    if (result == cudaErrorInsufficientDriver)
        return "the NVIDIA driver is made for CUDA " + version(driver) + ", this program needs CUDA " +
               version(runtime) + "; update the driver, or use --device cpu.";
    return std::string("the driver reports: ") + cudaGetErrorString(result) + "; use --device cpu.";
}

DeviceChoice chooseGpu(const EngineConfig &config)
{
    const int index = config.devices.empty() ? 0 : config.devices.front();
    int count = 0;
    cudaGetDeviceCount(&count);
    if (index < 0 || index >= count)
        throw EngineFailure(ErrorCode::Device, "GPU " + std::to_string(index) + " does not exist: this machine has " +
                                                   std::to_string(count) + ", numbered from 0.");
    cudaDeviceProp properties{};
    cudaGetDeviceProperties(&properties, index);
    // fp32 means fp32 (cuDNN's convolutions would take TF32), and the same request takes the same kernels every time.
    at::globalContext().setAllowTF32CuDNN(false);
    at::globalContext().setAllowTF32CuBLAS(false);
    at::globalContext().setDeterministicCuDNN(true);
    at::globalContext().setBenchmarkCuDNN(false);
    DeviceChoice choice;
    choice.device = at::Device(at::kCUDA, static_cast<at::DeviceIndex>(index));
    choice.description = properties.name;
    choice.dataType = config.dataType == DataType::Automatic ? DataType::BFloat16 : config.dataType;
    choice.reason = config.dataType == DataType::Automatic ? "the model's own type" : "asked for";
    return choice;
}
#else
std::string gpuObstacle()
{
    return "this build has no CUDA code; build it with PARALLAX_CUDA=ON, or use --device cpu.";
}

DeviceChoice chooseGpu(const EngineConfig & /*config*/)
{
    throw EngineFailure(ErrorCode::Device, "A GPU was asked for, but " + gpuObstacle());
}
#endif

DeviceChoice chooseCpu(const EngineConfig &config)
{
    if (config.threads > 0)
        at::set_num_threads(config.threads);
    DeviceChoice choice;
    const int threads = at::get_num_threads();
    choice.description = "cpu, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
    choice.dataType = config.dataType;
    choice.reason = "asked for";
    if (config.dataType == DataType::Automatic) {
        const bool fast = kernels::cpuHasBFloat16Units();
        choice.dataType = fast ? DataType::BFloat16 : DataType::Float32;
        choice.reason = fast ? "this CPU multiplies bfloat16 in hardware" : "this CPU has no bfloat16 arithmetic";
    }
    return choice;
}

} // namespace

DeviceChoice chooseDevice(const EngineConfig &config)
{
    const auto obstacle = config.device == DeviceKind::Cpu ? std::string() : gpuObstacle();
    if (config.device == DeviceKind::Cuda && !obstacle.empty())
        throw EngineFailure(ErrorCode::Device, "A GPU was asked for, but " + obstacle);
    const bool useGpu = config.device != DeviceKind::Cpu && obstacle.empty();
    auto choice = useGpu ? chooseGpu(config) : chooseCpu(config);
    choice.type = choice.dataType == DataType::BFloat16 ? at::kBFloat16 : at::kFloat;
    return choice;
}

} // namespace engine
