# cmake -DROOT=<source dir> -P CheckIncludes.cmake
# The include rules, one row a folder: what its files may name, as a regular expression. The longest matching folder
# is the one that counts. Also: no file over 400 lines, and words that must not occur.
set(std "<[a-z_0-9]+>")
set(posix "<(sys/[a-z]+|unistd|fcntl|dlfcn|malloc|signal|pthread|sched)\\.h>|<dlfcn.h>")
set(torch "<(ATen|c10|torch)/[A-Za-z0-9_/.]+>|<cuda[a-z_]*\\.h>|<nccl\\.h>")
set(rules
    "engine/api|${std}|${posix}|<nlohmann/json(_fwd)?\\.hpp>|\"engine/api/[a-z_]+\\.h\""
    "engine/comm|${std}|\"engine/(api|comm)/[a-z_]+\\.h\"|${torch}"
    "engine/runtime|${std}|${posix}|\"engine/(api|runtime)/[a-z_]+\\.h\"|\"engine/comm/communicator\\.h\""
    "engine/text|${std}|<(pcre2|utf8proc)\\.h>|<nlohmann/json(_fwd)?\\.hpp>|\"engine/(api|text)/[a-z_]+\\.h\""
    "engine/sequence|${std}|\"engine/(api|sequence)/[a-z_]+\\.h\""
    "engine/sampling|${std}|${torch}|\"engine/(api|sampling)/[a-z_]+\\.h\""
    "engine/weights|${std}|${posix}|${torch}|<nlohmann/json(_fwd)?\\.hpp>|\"engine/(api|weights)/[a-z_]+\\.h\""
    "engine/checkpoint|${std}|${posix}|<nlohmann/json(_fwd)?\\.hpp>|\"engine/(api|checkpoint|text|weights|sequence)/[a-z_]+\\.h\""
    "engine/kernels|${std}|<cuda[a-z_0-9]*\\.h>|\"engine/kernels/[a-z_]+\\.h\""
    "engine/model|${std}|${torch}|\"engine/(api|checkpoint|comm|kernels|model|sequence|weights)/[a-z_]+\\.h\"|\"engine/runtime/rank_context\\.h\""
    "engine/vae|${std}|${torch}|\"engine/(api|checkpoint|comm|kernels|vae|weights)/[a-z_]+\\.h\"|\"engine/runtime/rank_context\\.h\""
    "engine/sound|${std}|${torch}|\"engine/(api|checkpoint|comm|kernels|sound|weights)/[a-z_]+\\.h\"|\"engine/runtime/rank_context\\.h\""
    "engine/pipeline|${std}|${posix}|${torch}|\"engine/(api|checkpoint|comm|kernels|model|pipeline|runtime|sampling|sequence|sound|text|vae|weights)/[a-z_]+\\.h\""
    "engine/media|${std}|${posix}|<libav[a-z]+/[a-z_]+\\.h>|<libsw[a-z]+/[a-z_]+\\.h>|<png\\.h>|\"engine/(api|media)/[a-z_]+\\.h\""
    "app/cli|${std}|${posix}|<CLI/CLI\\.hpp>|<spdlog/[a-z_/.-]+>|<nlohmann/json(_fwd)?\\.hpp>|\"(engine/api|engine/media|app/cli)/[a-z_]+\\.h\""
    "app/bench|${std}|${posix}|<CLI/CLI\\.hpp>|<nlohmann/json(_fwd)?\\.hpp>|\"(engine/api|app/bench)/[a-z_]+\\.h\""
    "tests|.*")
set(forbidden "BlockingQueuedConnection|processEvents|QEventLoop|[^_]terminate\\(|detach\\(|[^_]SIGNAL\\(|find_package\\(Torch|torch/torch\\.h")
set(max_lines 400)
set(problems 0)

foreach(rule IN LISTS rules)
    string(FIND "${rule}" "|" bar)
    string(SUBSTRING "${rule}" 0 ${bar} folder)
    math(EXPR next "${bar} + 1")
    string(SUBSTRING "${rule}" ${next} -1 allowed)
    file(GLOB_RECURSE sources ${ROOT}/${folder}/*.h ${ROOT}/${folder}/*.cpp ${ROOT}/${folder}/*.cu)
    foreach(source IN LISTS sources)
        file(RELATIVE_PATH name ${ROOT} ${source})
        file(STRINGS ${source} lines)
        file(READ ${source} text)
        string(REGEX MATCHALL "\n" newlines "${text}")
        list(LENGTH newlines count)
        if(count GREATER max_lines)
            message(SEND_ERROR "${name}: ${count} lines, over ${max_lines}")
            math(EXPR problems "${problems} + 1")
        endif()
        if(NOT folder STREQUAL "tests")
            file(STRINGS ${source} words REGEX "${forbidden}")
            foreach(line IN LISTS words)
                message(SEND_ERROR "${name}: not here: ${line}")
                math(EXPR problems "${problems} + 1")
            endforeach()
        endif()
        file(STRINGS ${source} includes REGEX "^[ \t]*#[ \t]*include")
        foreach(line IN LISTS includes)
            string(REGEX REPLACE "^[ \t]*#[ \t]*include[ \t]*([<\"][^>\"]*[>\"]).*" "\\1" what "${line}")
            if(NOT what MATCHES "^(${allowed})$")
                message(SEND_ERROR "${name}: ${folder} must not include ${what}")
                math(EXPR problems "${problems} + 1")
            endif()
        endforeach()
    endforeach()
endforeach()
if(problems)
    message(FATAL_ERROR "${problems} layering problems")
endif()
