//! The kinds of servers.

/// When a server's budget is replenished, and what becomes of budget that nobody uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerKind {
    /// `periodic`: full at each period; without work its budget is used up while it is the most urgent (Davis and Burns
    /// 2005: "idling").
    Periodic,
    /// `polling`: full at each period; forfeited when it is the most urgent and has no work (Lehoczky, Sha and Strosnider
    /// 1987).
    Polling,
    /// `deferrable`: full at each period; preserved while there is no work (Lehoczky, Sha and Strosnider 1987).
    Deferrable,
    /// `sporadic`: what is used returns one period after it could be used first (Sprunt, Sha and Lehoczky 1989), with the
    /// corrections of Stanovich et al. (RTAS 2010).
    Sporadic,
    /// `cbs-soft`: used up, it has a later deadline at once (Abeni and Buttazzo 1998).
    SoftBandwidth,
    /// `cbs-hard`: used up, it waits until its present deadline (Abeni and Buttazzo 1998).
    HardBandwidth,
    /// `pibs`: one replenishment only: having used `u` from `t` on, it may run again at `t + u · period / budget` (Danish,
    /// Li and West, RTAS 2011). Its period is that of the server for which it works.
    PriorityInheriting,
    /// `grub`: as `cbs-soft`, but charged only at the rate of the bandwidth that is active on its core: what servers without
    /// work do not use, and what nobody reserved, goes to those that run (Lipari and Baruah, ECRTS 2000).
    Reclaiming,
    /// A partition: its time is the windows of a static table, and nothing that runs changes them (ARINC 653; Mok, Feng and
    /// Chen, RTAS 2001).
    Windows,
    /// `misses`: a budget of lines from memory instead of time, full at each period (MemGuard: Yun et al., RTAS 2013), and perhaps one of
    /// lines written back.
    Misses,
    /// `yielding`: best-effort work, behind all others. Its core's counter of accesses to lines that another core changed is sampled at each period; after more
    /// events than a threshold it gives way for a period (Gracioli, "Real-Time Operating System Support for Multicore Applications",
    /// 2014, section 5.4). The threshold is kept in place of a budget, a nanosecond for each event.
    YieldingToChanged,
    /// The same for lines from memory.
    YieldingToMisses,
}

/// What becomes of the budget of a server that is the most urgent and has no work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhenIdle {
    /// It is preserved.
    Preserve,
    /// It goes by like time that is used.
    Drain,
    /// It is forfeited.
    Forfeit,
}

/// What a core's counter counts between two samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SampledEvent {
    /// Accesses that found the line changed by another core (HITM).
    Changed,
    /// Lines from memory.
    SharedMisses,
}

impl SampledEvent {
    /// All of them.
    pub const ALL: [SampledEvent; 2] = [SampledEvent::Changed, SampledEvent::SharedMisses];

    /// The word for it in a system file.
    pub const fn key(self) -> &'static str {
        match self {
            SampledEvent::Changed => "hitm",
            SampledEvent::SharedMisses => "misses",
        }
    }
}

/// A counter of misses is looked at this often in a period at most, where nothing interrupts when it overflows.
pub const MOST_LOOKS: u64 = 16;

impl ServerKind {
    /// All of them.
    pub const ALL: [ServerKind; 12] = [
        ServerKind::Periodic,
        ServerKind::Polling,
        ServerKind::Deferrable,
        ServerKind::Sporadic,
        ServerKind::SoftBandwidth,
        ServerKind::HardBandwidth,
        ServerKind::PriorityInheriting,
        ServerKind::Reclaiming,
        ServerKind::Windows,
        ServerKind::Misses,
        ServerKind::YieldingToChanged,
        ServerKind::YieldingToMisses,
    ];

    /// The word for it in a system file.
    pub const fn key(self) -> &'static str {
        match self {
            ServerKind::Periodic => "periodic",
            ServerKind::Polling => "polling",
            ServerKind::Deferrable => "deferrable",
            ServerKind::Sporadic => "sporadic",
            ServerKind::SoftBandwidth => "cbs-soft",
            ServerKind::HardBandwidth => "cbs-hard",
            ServerKind::PriorityInheriting => "pibs",
            ServerKind::Reclaiming => "grub",
            // Written as a partition.
            ServerKind::Windows => "windows",
            ServerKind::Misses => "misses",
            ServerKind::YieldingToChanged | ServerKind::YieldingToMisses => "yielding",
        }
    }

    /// What becomes of its budget while it has no work.
    pub const fn when_idle(self) -> WhenIdle {
        match self {
            ServerKind::Periodic => WhenIdle::Drain,
            ServerKind::Polling => WhenIdle::Forfeit,
            ServerKind::Deferrable
            | ServerKind::Sporadic
            | ServerKind::SoftBandwidth
            | ServerKind::HardBandwidth
            | ServerKind::PriorityInheriting
            | ServerKind::Reclaiming
            | ServerKind::Windows
            | ServerKind::Misses
            | ServerKind::YieldingToChanged
            | ServerKind::YieldingToMisses => WhenIdle::Preserve,
        }
    }

    /// Whether it goes on at once, with a later deadline, when its budget is exhausted: it then takes more than its budget in
    /// a period, and only its deadline keeps it from disturbing others.
    pub const fn is_soft(self) -> bool {
        matches!(self, ServerKind::SoftBandwidth | ServerKind::Reclaiming)
    }

    /// Whether its work gives way to a counter.
    pub const fn yields(self) -> bool {
        self.sampled().is_some()
    }

    /// What is counted, where its work gives way to that.
    pub const fn sampled(self) -> Option<SampledEvent> {
        match self {
            ServerKind::YieldingToChanged => Some(SampledEvent::Changed),
            ServerKind::YieldingToMisses => Some(SampledEvent::SharedMisses),
            _ => None,
        }
    }

    /// The kind whose work gives way to this.
    pub const fn yielding_to(event: SampledEvent) -> ServerKind {
        match event {
            SampledEvent::Changed => ServerKind::YieldingToChanged,
            SampledEvent::SharedMisses => ServerKind::YieldingToMisses,
        }
    }

    /// Whether it depends on what counters of its cores count.
    pub const fn reads_counters(self) -> bool {
        matches!(self, ServerKind::Misses) || self.yields()
    }

    /// The kind that a system file calls so, if there is one.
    pub fn from_key(key: &str) -> Option<ServerKind> {
        ServerKind::ALL.into_iter().find(|kind| kind.key() == key)
    }
}
