# libtorch as the PyPI wheel torch ships it, with NVIDIA's wheels beside it (packaging/setup.sh fetches them).
# find_package(Torch) is not used: it would bring a second CUDA runtime and compiler flags of its own. No Python.
#   wheel::torch    what a unit that touches tensors links
#   wheel::cudart   what a unit with kernels and raw pointers links (CUDA only)
# PARALLAX_CUDA_ENABLED says whether CUDA code is built; C++ units see the macro PARALLAX_CUDA.
set(PARALLAX_WHEELS ${CMAKE_SOURCE_DIR}/third_party/wheels CACHE PATH "the folder that holds torch/ and nvidia/")
set(torch_dir ${PARALLAX_WHEELS}/torch)
set(nvidia_dir ${PARALLAX_WHEELS}/nvidia)
if(NOT EXISTS ${torch_dir}/lib/libtorch_cpu.so)
    message(FATAL_ERROR "libtorch is not in ${PARALLAX_WHEELS}: run packaging/setup.sh, "
        "or set PARALLAX_WHEELS to a folder that holds the unpacked wheels")
endif()

# The wheel's compiler is only there when the machine had none that fits.
find_program(PARALLAX_NVCC nvcc HINTS ${nvidia_dir}/cu13/bin PATHS /usr/local/cuda-13.0/bin /usr/local/cuda/bin)
set(PARALLAX_CUDA_ENABLED ${PARALLAX_CUDA})
if(PARALLAX_CUDA STREQUAL "AUTO")
    set(PARALLAX_CUDA_ENABLED OFF)
    if(PARALLAX_NVCC AND EXISTS ${nvidia_dir}/nccl/lib/libnccl.so.2)
        set(PARALLAX_CUDA_ENABLED ON)
    endif()
endif()
message(STATUS "CUDA code: ${PARALLAX_CUDA_ENABLED}")

function(import_wheel_library name file)
    if(NOT EXISTS "${file}")
        message(FATAL_ERROR "wheel library missing: ${file}: run packaging/setup.sh again")
    endif()
    add_library(wheel::${name} SHARED IMPORTED GLOBAL)
    set_target_properties(wheel::${name} PROPERTIES IMPORTED_LOCATION "${file}")
endfunction()

foreach(name c10 torch_cpu)
    import_wheel_library(${name} ${torch_dir}/lib/lib${name}.so)
endforeach()
import_wheel_library(gomp ${torch_dir}/lib/libgomp.so.1)
add_library(wheel::torch INTERFACE IMPORTED GLOBAL)
target_include_directories(wheel::torch SYSTEM INTERFACE ${torch_dir}/include)
target_compile_definitions(wheel::torch INTERFACE AT_PER_OPERATOR_HEADERS)
# Without -fopenmp at::parallel_for is a plain loop. The wheel's libgomp, not the system's: one thread pool a process.
target_compile_options(wheel::torch INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fopenmp>)
target_link_libraries(wheel::torch INTERFACE wheel::torch_cpu wheel::c10 wheel::gomp)

if(PARALLAX_CUDA_ENABLED)
    if(NOT PARALLAX_NVCC)
        message(FATAL_ERROR "CUDA is on but there is no nvcc: run packaging/setup.sh with PARALLAX_CUDA=ON")
    endif()
    set(CMAKE_CUDA_COMPILER ${PARALLAX_NVCC})
    set(CMAKE_CUDA_RUNTIME_LIBRARY None) # the wheel's, never a second, static one
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_EXTENSIONS OFF)
    set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
    # For elementwise kernels: no PTX, one pass a card. wgmma kernels set 90a-real for their own target.
    set(CMAKE_CUDA_ARCHITECTURES 80-real 86-real 89-real 90a-real 100-real 120-real)
    enable_language(CUDA)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # CMake 3.25 does not know that nvcc has it, and says nothing
        set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    endif()
    if(NOT CMAKE_CUDA_COMPILER_VERSION MATCHES "^13\\.0\\.")
        message(FATAL_ERROR "${PARALLAX_NVCC} is CUDA ${CMAKE_CUDA_COMPILER_VERSION}, torch's wheel needs 13.0: "
            "set PARALLAX_NVCC to the right one")
    endif()

    import_wheel_library(cudart ${nvidia_dir}/cu13/lib/libcudart.so.13)
    import_wheel_library(nccl ${nvidia_dir}/nccl/lib/libnccl.so.2)
    foreach(name c10_cuda torch_cuda)
        import_wheel_library(${name} ${torch_dir}/lib/lib${name}.so)
    endforeach()
    # The wheels' own headers first; what they lack (crt, CCCL) comes with the compiler.
    target_include_directories(wheel::cudart SYSTEM INTERFACE ${nvidia_dir}/cu13/include
        ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
    foreach(folder IN LISTS CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES)
        if(EXISTS ${folder}/cccl)
            target_include_directories(wheel::cudart SYSTEM INTERFACE ${folder}/cccl)
        endif()
    endforeach()
    target_include_directories(wheel::nccl SYSTEM INTERFACE ${nvidia_dir}/nccl/include)
    target_include_directories(wheel::torch_cuda SYSTEM INTERFACE ${nvidia_dir}/cudnn/include)

    # Nothing in our objects names a symbol of libtorch_cuda, so the linker would drop it, and CUDA with it.
    set(CMAKE_LINK_LIBRARY_USING_KEEP "LINKER:--push-state,--no-as-needed" "<LINK_ITEM>" "LINKER:--pop-state")
    set(CMAKE_LINK_LIBRARY_USING_KEEP_SUPPORTED TRUE)
    target_link_libraries(wheel::torch INTERFACE "$<LINK_LIBRARY:KEEP,wheel::torch_cuda,wheel::c10_cuda>"
        wheel::cudart wheel::nccl)
    target_compile_definitions(wheel::torch INTERFACE PARALLAX_CUDA)
endif()

# torch's libraries find NVIDIA's by their own relative paths at run time; the linker must be told.
file(GLOB nvidia_libs LIST_DIRECTORIES true ${nvidia_dir}/*/lib)
list(TRANSFORM nvidia_libs PREPEND "LINKER:-rpath-link,")
target_link_options(wheel::torch INTERFACE ${nvidia_libs})
