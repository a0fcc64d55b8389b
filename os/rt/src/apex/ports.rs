//! Sampling and queuing ports, over the component's own ([`crate::port`]). A port is open from its creation on.

use super::hypervisor::{Apex, MOST_PORTS};
use super::pool::text;
use super::process::{awaited, waiting};
use super::{mode, time};
use crate::cards;
use crate::port::{PortError, QueuingDestination, QueuingSource, SamplingDestination, SamplingSource};
use a653rs::bindings::{
    ApexByte, ApexName, ApexQueuingPortP1, ApexQueuingPortP4, ApexSamplingPortP1, ApexSamplingPortP4,
    ApexSamplingPortStatus, ApexSystemTime, ErrorReturnCode, MessageRange, MessageSize, PortDirection, QueueOverflow,
    QueuingDiscipline, QueuingPortId, QueuingPortName, QueuingPortStatus, SamplingPortId, SamplingPortName, Validity,
};
use core::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use tactus_abi::port::{PortCard, QUEUING, SAMPLING, SOURCE};
use tactus_abi::shared::name_text;

/// What is known of a port beside its card.
struct Port {
    /// In which life of the partition.
    created: AtomicU32,
    refresh: AtomicI64,
    valid: AtomicU32,
}

static PORTS: [Port; MOST_PORTS] =
    [const { Port { created: AtomicU32::new(0), refresh: AtomicI64::new(0), valid: AtomicU32::new(0) } }; MOST_PORTS];

impl Port {
    fn is_open(&self) -> bool {
        self.created.load(Ordering::Acquire) == mode::life()
    }
}

fn direction(card: &PortCard) -> PortDirection {
    if card.direction == SOURCE {
        PortDirection::Source
    } else {
        PortDirection::Destination
    }
}

/// A port with its card, which is of this kind and has been created.
fn get(id: i64, kind: u32) -> Result<(&'static PortCard, &'static Port), ErrorReturnCode> {
    let place = usize::try_from(id).ok().and_then(|id| id.checked_sub(1));
    let found = place.and_then(|place| Some((cards::ports().get(place)?, PORTS.get(place)?)));
    let open = found.filter(|(card, port)| card.kind == kind && port.is_open());
    open.ok_or(ErrorReturnCode::InvalidParam)
}

/// The same where the message is to be sent through it.
fn get_for(message: &[ApexByte], id: i64, kind: u32) -> Result<(&'static PortCard, &'static Port), ErrorReturnCode> {
    let (card, port) = get(id, kind)?;
    if message.is_empty() {
        return Err(ErrorReturnCode::InvalidParam);
    }
    if message.len() > card.size as usize {
        return Err(ErrorReturnCode::InvalidConfig);
    }
    if direction(card) != PortDirection::Source {
        return Err(ErrorReturnCode::InvalidMode);
    }
    Ok((card, port))
}

fn find(name: &ApexName, kind: u32) -> Result<usize, ErrorReturnCode> {
    let is = |card: &PortCard| card.kind == kind && name_text(&card.name) == text(name);
    cards::ports().iter().take(MOST_PORTS).position(is).ok_or(ErrorReturnCode::InvalidConfig)
}

fn create(
    name: &ApexName,
    kind: u32,
    fits: impl FnOnce(&PortCard) -> bool,
) -> Result<(i64, &'static Port), ErrorReturnCode> {
    if mode::is_normal() {
        return Err(ErrorReturnCode::InvalidMode);
    }
    let place = find(name, kind)?;
    if PORTS[place].is_open() {
        return Err(ErrorReturnCode::NoAction);
    }
    if !fits(&cards::ports()[place]) {
        return Err(ErrorReturnCode::InvalidConfig);
    }
    PORTS[place].created.store(mode::life(), Ordering::Release);
    Ok((place as i64 + 1, &PORTS[place]))
}

fn id_of(name: &ApexName, kind: u32) -> Result<i64, ErrorReturnCode> {
    let place = find(name, kind)?;
    PORTS[place].is_open().then_some(place as i64 + 1).ok_or(ErrorReturnCode::InvalidConfig)
}

impl ApexSamplingPortP4 for Apex {
    fn create_sampling_port(
        sampling_port_name: SamplingPortName,
        max_message_size: MessageSize,
        port_direction: PortDirection,
        refresh_period: ApexSystemTime,
    ) -> Result<SamplingPortId, ErrorReturnCode> {
        let fits = |card: &PortCard| {
            let same = (card.size, direction(card)) == (max_message_size, port_direction);
            same && (port_direction == PortDirection::Source || refresh_period > 0)
        };
        let (id, port) = create(&sampling_port_name, SAMPLING, fits)?;
        port.refresh.store(refresh_period, Ordering::Relaxed);
        port.valid.store(0, Ordering::Relaxed);
        Ok(id)
    }

    fn write_sampling_message(sampling_port_id: SamplingPortId, message: &[ApexByte]) -> Result<(), ErrorReturnCode> {
        let (card, _) = get_for(message, sampling_port_id, SAMPLING)?;
        let port = SamplingSource::of(card);
        port.write(message).map_err(|_| ErrorReturnCode::InvalidConfig)
    }

    /// # Safety
    ///
    /// The trait asks for it; a slice holds what is put into it.
    unsafe fn read_sampling_message(
        sampling_port_id: SamplingPortId,
        message: &mut [ApexByte],
    ) -> Result<(Validity, MessageSize), ErrorReturnCode> {
        let (card, port) = get(sampling_port_id, SAMPLING)?;
        if direction(card) != PortDirection::Destination {
            return Err(ErrorReturnCode::InvalidMode);
        }
        let sample = match SamplingDestination::of(card).read(message) {
            Ok(Some(sample)) => sample,
            Err(PortError::TooLong) => return Err(ErrorReturnCode::InvalidParam),
            _ => {
                port.valid.store(0, Ordering::Relaxed);
                return Err(ErrorReturnCode::NoAction);
            }
        };
        let age = time::now().checked_sub(sample.written.as_nanos());
        let valid = age.is_some_and(|age| age <= port.refresh.load(Ordering::Relaxed).unsigned_abs());
        port.valid.store(valid.into(), Ordering::Relaxed);
        Ok((if valid { Validity::Valid } else { Validity::Invalid }, sample.length as MessageSize))
    }
}

impl ApexSamplingPortP1 for Apex {
    fn get_sampling_port_id(sampling_port_name: SamplingPortName) -> Result<SamplingPortId, ErrorReturnCode> {
        id_of(&sampling_port_name, SAMPLING)
    }

    fn get_sampling_port_status(sampling_port_id: SamplingPortId) -> Result<ApexSamplingPortStatus, ErrorReturnCode> {
        let (card, port) = get(sampling_port_id, SAMPLING)?;
        Ok(ApexSamplingPortStatus {
            refresh_period: port.refresh.load(Ordering::Relaxed),
            max_message_size: card.size,
            port_direction: direction(card),
            last_msg_validity: match port.valid.load(Ordering::Relaxed) {
                0 => Validity::Invalid,
                _ => Validity::Valid,
            },
        })
    }
}

impl ApexQueuingPortP4 for Apex {
    fn create_queuing_port(
        queuing_port_name: QueuingPortName,
        max_message_size: MessageSize,
        max_nb_message: MessageRange,
        port_direction: PortDirection,
        _: QueuingDiscipline,
    ) -> Result<QueuingPortId, ErrorReturnCode> {
        let fits = |card: &PortCard| {
            (card.size, card.depth, direction(card)) == (max_message_size, max_nb_message, port_direction)
        };
        create(&queuing_port_name, QUEUING, fits).map(|(id, _)| id)
    }

    fn send_queuing_message(
        queuing_port_id: QueuingPortId,
        message: &[ApexByte],
        time_out: ApexSystemTime,
    ) -> Result<(), ErrorReturnCode> {
        let (card, _) = get_for(message, queuing_port_id, QUEUING)?;
        time::wait_for(awaited::object(awaited::PORT, queuing_port_id), time_out, || {
            QueuingSource::of(card).send(message).ok()
        })
    }

    /// # Safety
    ///
    /// The trait asks for it; a slice holds what is put into it.
    unsafe fn receive_queuing_message(
        queuing_port_id: QueuingPortId,
        time_out: ApexSystemTime,
        message: &mut [ApexByte],
    ) -> Result<(MessageSize, QueueOverflow), ErrorReturnCode> {
        let (card, _) = get(queuing_port_id, QUEUING)?;
        if direction(card) != PortDirection::Destination {
            return Err(ErrorReturnCode::InvalidMode);
        }
        // A message that makes none is passed over. None is ever lost for want of room: its source is told instead.
        let result =
            time::wait_for(awaited::object(awaited::PORT, queuing_port_id), time_out, || match QueuingDestination::of(
                card,
            )
            .receive(message)
            {
                Ok(Some(length)) => Some(Ok((length as MessageSize, false))),
                Err(PortError::TooLong) => Some(Err(ErrorReturnCode::InvalidParam)),
                Ok(None) | Err(_) => None,
            });
        result?
    }

    fn get_queuing_port_status(queuing_port_id: QueuingPortId) -> Result<QueuingPortStatus, ErrorReturnCode> {
        let (card, _) = get(queuing_port_id, QUEUING)?;
        let messages = match direction(card) {
            PortDirection::Source => QueuingSource::of(card).waiting(),
            PortDirection::Destination => QueuingDestination::of(card).waiting(),
        };
        Ok(QueuingPortStatus {
            nb_message: messages as MessageRange,
            max_nb_message: card.depth,
            max_message_size: card.size,
            port_direction: direction(card),
            waiting_processes: waiting(awaited::object(awaited::PORT, queuing_port_id)),
        })
    }

    fn clear_queuing_port(queuing_port_id: QueuingPortId) -> Result<(), ErrorReturnCode> {
        let (card, _) = get(queuing_port_id, QUEUING)?;
        if direction(card) != PortDirection::Destination {
            return Err(ErrorReturnCode::InvalidMode);
        }
        QueuingDestination::of(card).clear();
        Ok(())
    }
}

impl ApexQueuingPortP1 for Apex {
    fn get_queuing_port_id(queuing_port_name: QueuingPortName) -> Result<QueuingPortId, ErrorReturnCode> {
        id_of(&queuing_port_name, QUEUING)
    }
}
