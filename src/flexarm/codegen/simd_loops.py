"""Loop in C over vectors: a function over rows of several groups of lanes, called without Python's lock."""

from __future__ import annotations

_LOOP = """
CASADI_SYMBOL_EXPORT long long {name}_lanes(long long count, long long groups,
    const casadi_real** first, const long long* stride, const long long* across,
    casadi_real** out, const long long* out_stride, const long long* out_across) {{
  casadi_int sz_arg = {inputs}, sz_res = {outputs}, sz_iw = 0, sz_w = 0;
  const size_t line = 64;
  long long k = -1, g, i;
  {name}_work(&sz_arg, &sz_res, &sz_iw, &sz_w);
  const casadi_real** arg = (const casadi_real**) malloc((sz_arg + 1) * sizeof(casadi_real*));
  casadi_real** res = (casadi_real**) malloc((sz_res + 1) * sizeof(casadi_real*));
  casadi_int* iw = (casadi_int*) malloc((sz_iw + 1) * sizeof(casadi_int));
  void* memory = malloc((sz_w + 1) * sizeof(casadi_real) + line);
  casadi_real* w = (casadi_real*) (((size_t) memory + line - 1) / line * line);
  if (arg && res && iw && memory) for (k = 0; k < count && k >= 0; ++k)
    for (g = 0; g < groups; ++g) {{
      for (i = 0; i < {inputs}; ++i) arg[i] = first[i] + k * stride[i] + g * across[i];
      for (i = 0; i < {outputs}; ++i) res[i] = out[i] + k * out_stride[i] + g * out_across[i];
      if ({name}(arg, res, iw, w, 0)) {{ k = -2; break; }}
    }}
  free(arg); free(res); free(iw); free(memory);
  return k < 0 ? -1 : k;
}}
"""


def loop(name: str, inputs: int, outputs: int) -> str:
    """Return C that evaluates a function, with so many inputs and outputs, for rows of groups of lanes."""
    return _LOOP.format(name=name, inputs=inputs, outputs=outputs)
