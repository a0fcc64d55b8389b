//! Packets as they are on the wire: Ethernet, IPv4, UDP, one byte of payload. Made by the host's generator, read by the card's
//! driver.

use crate::STREAMS;

/// UDP port of the first stream; the second has the next one.
pub const PORT: u16 = 9001;
/// Length of a frame.
pub const BYTES: usize = 60;

const ETHERNET: usize = 14;
const IPV4: [u8; 2] = [0x08, 0x00];
const UDP: u8 = 17;

/// A frame of the stream with this payload.
pub fn frame(stream: usize, payload: u8) -> [u8; BYTES] {
    let mut frame = [0; BYTES];
    // To everybody, from an address that nobody has.
    frame[..6].fill(0xff);
    frame[6..12].copy_from_slice(&[0x02, 0, 0, 0, 0, 1]);
    frame[12..14].copy_from_slice(&IPV4);
    let ip = &mut frame[ETHERNET..ETHERNET + 20];
    ip[0] = 0x45;
    ip[3] = 20 + 8 + 1;
    ip[8] = 64;
    ip[9] = UDP;
    ip[12..16].copy_from_slice(&[10, 0, 0, 1]);
    ip[16..20].copy_from_slice(&[10, 0, 0, 2]);
    let sum: u32 = ip.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
    let udp = &mut frame[ETHERNET + 20..];
    udp[..2].copy_from_slice(&PORT.to_be_bytes());
    udp[2..4].copy_from_slice(&(PORT + stream as u16).to_be_bytes());
    udp[5] = 8 + 1;
    udp[8] = payload;
    frame
}

/// What the card's driver sends once packets may come: to the port after those of the streams. What a card is sent before that
/// is lost, since a driver begins by resetting it.
pub fn ready() -> [u8; BYTES] {
    frame(STREAMS, 0)
}

/// The stream that a frame belongs to, if it is UDP over IPv4 to one of our ports.
pub fn stream(frame: &[u8]) -> Option<usize> {
    let ip = frame.get(ETHERNET..)?;
    let head = usize::from(ip.first()? & 0xf) * 4;
    if frame[12..14] != IPV4 || ip[0] >> 4 != 4 || head < 20 || *ip.get(9)? != UDP {
        return None;
    }
    let port = ip.get(head + 2..head + 4)?.try_into().ok().map(u16::from_be_bytes)?;
    Some(usize::from(port.checked_sub(PORT)?)).filter(|stream| *stream < STREAMS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_told_by_its_port() {
        assert_eq!([stream(&frame(0, 7)), stream(&frame(1, 255))], [Some(0), Some(1)]);
        assert_eq!(stream(&ready()), None);
    }

    #[test]
    fn other_frames_and_cut_ones_are_of_no_stream() {
        let good = frame(1, 1);
        for length in 0..38 {
            assert_eq!(stream(&good[..length]), None);
        }
        for (place, value) in [(12, 0x86), (14, 0x65), (14, 0x44), (23, 6)] {
            let mut bad = good;
            bad[place] = value;
            assert_eq!(stream(&bad), None, "byte {place}");
        }
    }

    #[test]
    fn the_checksum_of_the_ip_header_is_right() {
        let made = frame(0, 0);
        let sum: u32 = made[14..34].chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
        assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff);
    }
}
