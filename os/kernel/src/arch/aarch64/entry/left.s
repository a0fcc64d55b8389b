// Not needed here: {regions} {space} {core_caller} {components} {component_bytes} {component_grants} {component_special}
// {component_space} {component_entry} {component_special_inside} {grant_shift} {grant_entry} {grant_component} {thread_component}
// {thread_depth} {thread_frames} {thread_caller} {thread_fresh_stack} {frame_component} {last_recorded} {plain_timer} {line_brands}
// {open_lines} {expiry} {idle} {root} {region} {tails} {upcall} {mark} {entered} {charged} {deferred} {levels} {timeouts} {tick} {armed}
// {checked} {threads} {thread_bytes} {thread_owner} {thread_state} {state_inactive} {state_scheduler} {state_upcall} {thread_id}
// {thread_argument} {thread_counted} {thread_used} {thread_preempter} {thread_path}
