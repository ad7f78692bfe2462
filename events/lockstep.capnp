@0xa6f2d6c1b5e94d17;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("lockstep::wire");
struct Placeholder { x @0 :UInt32; }
