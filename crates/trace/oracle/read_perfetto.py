"""Reads a Perfetto trace through the schema that the `perfetto` package carries, and tells as JSON what is in it.

Every packet must parse without a field that the schema does not know; on each track slices must begin and end in
pairs and times must not go back. With `--trace-processor` it also asks Perfetto's own trace processor, which the
package fetches when it is first used; where that fails, the reason is in the answer.
"""

import collections
import json
import socket
import sys

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema


def refuse_unknown(message):
    unknown = UnknownFieldSet(message)
    assert len(unknown) == 0, f"{message.DESCRIPTOR.name} has unknown field {unknown[0].field_number}"
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            repeated = field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED
            for part in value if repeated else [value]:
                refuse_unknown(part)


def read(path):
    trace = schema.Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    refuse_unknown(trace)
    kinds = schema.TrackEvent
    tracks, parents, open_slices, latest = {}, {}, collections.defaultdict(list), 0
    slices = collections.defaultdict(collections.Counter)
    length = collections.Counter()
    instants = collections.defaultdict(collections.Counter)
    counters = []
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id != 0, "a packet without a sequence is dropped by Perfetto"
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in tracks, f"track {track.uuid} is described twice"
            tracks[track.uuid] = track.name
            parents[track.uuid] = track.parent_uuid
            continue
        event, time = packet.track_event, packet.timestamp
        assert time >= latest, f"{time} comes after {latest}"
        latest = time
        name = tracks[event.track_uuid]
        if event.type == kinds.TYPE_SLICE_BEGIN:
            assert not open_slices[event.track_uuid], f"slices overlap on {name} at {time}"
            open_slices[event.track_uuid].append((event.name, time))
        elif event.type == kinds.TYPE_SLICE_END:
            begun, since = open_slices[event.track_uuid].pop()
            slices[name][begun] += 1
            length[name] += time - since
        elif event.type == kinds.TYPE_INSTANT:
            instants[name][event.name] += 1
        elif event.type == kinds.TYPE_COUNTER:
            counters.append([time, event.counter_value])
        else:
            raise AssertionError(f"event of type {event.type}")
    assert not any(open_slices.values()), "a slice has no end"
    assert all(parent in tracks for parent in parents.values() if parent), "a track has a parent that is not there"
    return {
        "packets": len(trace.packet),
        "tracks": sorted(tracks.values()),
        "slices": slices,
        "length_ns": length,
        "instants": instants,
        "counter": counters,
    }


def ask_trace_processor(path):
    socket.setdefaulttimeout(20)
    try:
        from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

        processor = TraceProcessor(trace=path, config=TraceProcessorConfig(load_timeout=20))
    except BaseException as error:  # the package ends the process or raises whatever its download raises
        return {"unavailable": f"{type(error).__name__}: {error}"}
    query = "select track.name as track, count(*) as n from slice join track on slice.track_id = track.id where dur > 0 group by 1"
    counts = {row.track: row.n for row in processor.query(query)}
    processor.close()
    return {"slices": counts}


if __name__ == "__main__":
    # The package prints to standard output while it fetches: the answer keeps that for itself.
    answer_to, sys.stdout = sys.stdout, sys.stderr
    answer = read(sys.argv[1])
    if "--trace-processor" in sys.argv:
        answer["trace_processor"] = ask_trace_processor(sys.argv[1])
    json.dump(answer, answer_to)
