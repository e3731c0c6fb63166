#pragma once

#include <string>
#include <string_view>

namespace engine {

// The canonical (diffusers) name of a stored transformer tensor: prefixes such as "model." or "language_model.model."
// taken off, the framework's own names translated (vae2llm -> proj_in, q_proj -> to_q, …; cosmos3 reference 8).
std::string canonicalWeightName(std::string_view stored);
// Tensors generation never reads and that are no surprise: language head, action heads, vision tower, sound encoder.
bool isKnownUnused(std::string_view canonical);

} // namespace engine
