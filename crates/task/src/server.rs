//! The kinds of servers, each with what is known of it, said once. The rules by which a budget goes and comes are the policy's, what
//! its peers have to bear is the analysis's.

use crate::Feature;

/// What is known of a kind.
struct Facts {
    key: &'static str,
    feature: Feature,
    most: MostTime,
    replenished: Replenished,
    when_idle: WhenIdle,
    recorded: bool,
    sampled: Option<SampledEvent>,
}

impl Facts {
    /// What is so unless a row says otherwise.
    const fn of(key: &'static str, feature: Feature, replenished: Replenished) -> Facts {
        let (most, when_idle) = (MostTime::Unlimited, WhenIdle::Preserve);
        Facts { key, feature, replenished, most, when_idle, recorded: false, sampled: None }
    }
}

/// Makes the enum and the list of all from one row each.
macro_rules! servers {
    ($($(#[$doc:meta])* $name:ident($key:literal, $feature:ident, $replenished:ident) { $($fact:ident: $value:expr),* })*) => {
        /// When a server's budget is replenished, and what becomes of budget that nobody uses.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum ServerKind {
            $($(#[$doc])* $name,)*
        }

        impl ServerKind {
            /// All of them.
            pub const ALL: [ServerKind; [$(ServerKind::$name),*].len()] = [$(ServerKind::$name),*];

            const fn facts(self) -> Facts {
                match self {
                    $(ServerKind::$name => Facts {
                        $($fact: $value,)*
                        ..Facts::of($key, Feature::$feature, Replenished::$replenished)
                    },)*
                }
            }
        }
    };
}

servers! {
    /// `periodic`: full at each period; without work its budget is used up while it is the most urgent (Davis and Burns
    /// 2005: "idling").
    Periodic("periodic", ServerPeriodic, AtBoundaries) { most: MostTime::EachPeriod, when_idle: WhenIdle::Drain }
    /// `polling`: full at each period; forfeited when it is the most urgent and has no work (Lehoczky, Sha and Strosnider
    /// 1987).
    Polling("polling", ServerPolling, AtBoundaries) { most: MostTime::EachPeriod, when_idle: WhenIdle::Forfeit }
    /// `sporadic-polling`: full when work comes after the end of its last period, which begins a period; forfeited when there is no more
    /// work (reservations of LITMUS^RT: "sporadic polling").
    SporadicPolling("sporadic-polling", ServerSporadicPolling, AtDeadline) { most: MostTime::Begun, when_idle: WhenIdle::Forfeit }
    /// `deferrable`: full at each period; preserved while there is no work (Lehoczky, Sha and Strosnider 1987).
    Deferrable("deferrable", ServerDeferrable, AtBoundaries) { most: MostTime::EachPeriod, recorded: true }
    /// `sporadic`: what is used returns one period after it could be used first (Sprunt, Sha and Lehoczky 1989), with the
    /// corrections of Stanovich et al. (RTAS 2010).
    Sporadic("sporadic", ServerSporadic, AfterPeriod) { most: MostTime::Begun }
    /// `cbs-soft`: used up, it has a later deadline at once (Abeni and Buttazzo 1998).
    SoftBandwidth("cbs-soft", ServerSoftBandwidth, Immediately) {}
    /// `cbs-hard`: used up, it waits until its present deadline (Abeni and Buttazzo 1998).
    HardBandwidth("cbs-hard", ServerHardBandwidth, AtDeadline) { most: MostTime::Begun, recorded: true }
    /// `pibs`: one replenishment only: having used `u` from `t` on, it may run again at `t + u · period / budget` (Danish,
    /// Li and West, RTAS 2011). Its period is that of the server for which it works.
    PriorityInheriting("pibs", ServerPriorityInheriting, AfterShare) { most: MostTime::Begun }
    /// `grub`: as `cbs-soft`, but charged only at the rate of the bandwidth that is active on its core: what servers without
    /// work do not use, and what nobody reserved, goes to those that run (Lipari and Baruah, ECRTS 2000).
    Reclaiming("grub", ServerReclaiming, Immediately) {}
    /// A partition, with a section of its own: its time is the windows of a static table, and nothing that runs changes them (ARINC 653;
    /// Mok, Feng and Chen, RTAS 2001).
    Windows("windows", ServerWindows, ByTable) { most: MostTime::Table }
    /// `misses`: a budget of lines from memory instead of time, full at each period (MemGuard: Yun et al., RTAS 2013), and perhaps one of
    /// lines written back.
    Misses("misses", ServerMisses, Counted) { recorded: true }
    /// `yielding`: best-effort work, behind all others. Its core's counter of accesses to lines that another core changed is sampled at each period; after more
    /// events than a threshold it gives way for a period (Gracioli, "Real-Time Operating System Support for Multicore Applications",
    /// 2014, section 5.4). The threshold is kept in place of a budget, a nanosecond for each event.
    YieldingToChanged("yielding", ServerYieldingToChanged, Counted) { recorded: true, sampled: Some(SampledEvent::Changed) }
    /// The same for lines from memory.
    YieldingToMisses("yielding", ServerYieldingToMisses, Counted) { recorded: true, sampled: Some(SampledEvent::SharedMisses) }
}

/// The most time that a server has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MostTime {
    /// A budget from each boundary of its periods to the next.
    EachPeriod,
    /// Up to any instant, a budget for each period that has begun and one more: a budget may be used late in one period
    /// and early in the next.
    Begun,
    /// Its windows.
    Table,
    /// Nothing limits it in the short run.
    Unlimited,
}

/// When a budget is replenished.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replenished {
    /// At each boundary of a period, whatever ran.
    AtBoundaries,
    /// At the start of each of its windows.
    ByTable,
    /// Each piece one period after its use began.
    AfterPeriod,
    /// After as much of a period as was used of the budget.
    AfterShare,
    /// At its deadline.
    AtDeadline,
    /// As soon as it is used up.
    Immediately,
    /// At each boundary of a period, by what a counter has counted.
    Counted,
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
    /// The word for it in a system file.
    pub const fn key(self) -> &'static str {
        self.facts().key
    }

    /// The most time that it has.
    pub const fn most_time(self) -> MostTime {
        self.facts().most
    }

    /// When its budget is replenished.
    pub const fn replenished(self) -> Replenished {
        self.facts().replenished
    }

    /// What becomes of its budget while it has no work.
    pub const fn when_idle(self) -> WhenIdle {
        self.facts().when_idle
    }

    /// Whether its budget is time, of which it has as much in each period.
    pub const fn has_time_budget(self) -> bool {
        !matches!(self.replenished(), Replenished::ByTable | Replenished::Counted)
    }

    /// Whether what it supplies follows from its budget and period, whoever is beside it.
    pub const fn has_sure_supply(self) -> bool {
        self.has_time_budget() && !matches!(self.replenished(), Replenished::Immediately | Replenished::AfterShare)
    }

    /// Whether it loses budget while it has no work.
    pub const fn loses_unused(self) -> bool {
        !matches!(self.when_idle(), WhenIdle::Preserve)
    }

    /// Whether there is a record whenever it has no budget, and one whenever it has some again. Other kinds forfeit their budget
    /// without a record, or are given it back in pieces.
    pub const fn records_budget(self) -> bool {
        self.facts().recorded
    }

    /// Whether it goes on at once, with a later deadline, when its budget is exhausted: it then takes more than its budget in
    /// a period, and only its deadline keeps it from disturbing others.
    pub const fn is_soft(self) -> bool {
        matches!(self.replenished(), Replenished::Immediately)
    }

    /// Whether its work gives way to a counter.
    pub const fn yields(self) -> bool {
        self.sampled().is_some()
    }

    /// What is counted, where its work gives way to that.
    pub const fn sampled(self) -> Option<SampledEvent> {
        self.facts().sampled
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
        matches!(self.replenished(), Replenished::Counted)
    }
}

impl From<ServerKind> for Feature {
    fn from(kind: ServerKind) -> Feature {
        kind.facts().feature
    }
}
