"""Put invokes on the device but for those with a kernel that only the host can run."""

from psyclone_storage.scripting import CodedCall

ON_THE_HOST = {"extend_chi_field_kernel_type"}  # It writes a message where a mesh is wrong.


def trans(psy):
    """Apply the steps for a device to each invoke whose kernels are all on it."""
    for schedule in psy.children:
        names = {call.name.lower() for call in schedule.walk(CodedCall)}
        stays = names & ON_THE_HOST
        schedule.apply("colour" if stays else "imports-to-arguments; openacc")
