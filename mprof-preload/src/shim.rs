//! Between a C symbol and its hook: a few instructions that add, as two more arguments, the stack pointer and the
//! frame pointer as they were on entry, and jump. The hook returns to the program directly.

/// Defines exported functions that jump to hooks.
///
/// `name, aliases… => hook(registers)`: the registers are where the two more arguments go by the System V calling
/// convention (section 3.2.3), given how many arguments the function has itself.
macro_rules! shims {
    ($($(#[$doc:meta])* $($name:ident),+ => $hook:path, $sp:literal, $bp:literal;)+) => {
        $($(
            #[doc = concat!(stringify!($name), ": jumps to its hook.")]
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    concat!("mov ", $sp, ", rsp"), // the address of the return address
                    concat!("mov ", $bp, ", rbp"), // what the program has in the frame pointer register
                    "jmp {hook}",                  // the hook returns to our caller
                    hook = sym $hook,
                )
            }
        )+)+
    };
}

/// Defines functions as `shims`, but for calls that are redirected to them: they are not exported.
macro_rules! redirected_shims {
    ($($(#[$doc:meta])* $name:ident => $hook:path, $sp:literal, $bp:literal;)+) => {
        $(
            $(#[$doc])*
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    concat!("mov ", $sp, ", rsp"),
                    concat!("mov ", $bp, ", rbp"),
                    "jmp {hook}",
                    hook = sym $hook,
                )
            }
        )+
    };
}

/// Defines exported functions that call `before`, with all arguments kept, and then jump to the original, which
/// sees the program as its caller: some functions of the C library look at who calls them.
macro_rules! passing_shims {
    ($($(#[$doc:meta])* $name:ident => $before:path, $original:path;)+) => {
        $crate::shim::redirected_passing_shims! {
            $($(#[$doc])* #[unsafe(no_mangle)] pub $name => $before, $original;)+
        }
    };
}

/// The same, for calls that are redirected to them, where they are not given attributes that export them.
macro_rules! redirected_passing_shims {
    ($($(#[$attribute:meta])* $visibility:vis $name:ident => $before:path, $original:path;)+) => {
        $(
            $(#[$attribute])*
            #[unsafe(naked)]
            $visibility unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    "push rdi",
                    "push rsi",
                    "push rdx",
                    "push rcx",
                    "push r8",
                    "push r9",
                    "push rax", // al counts the vector registers of a variadic call; the stack is now aligned
                    "call {before}",
                    "pop rax",
                    "pop r9",
                    "pop r8",
                    "pop rcx",
                    "pop rdx",
                    "pop rsi",
                    "pop rdi",
                    "mov r11, qword ptr [rip + {original}]",
                    "jmp r11",
                    before = sym $before,
                    original = sym $original,
                )
            }
        )+
    };
}

/// Defines exported functions that ask `choice`, with all arguments kept, and jump to the hook or to the original.
macro_rules! choosing_shims {
    ($($(#[$doc:meta])* $name:ident => $choice:path, $hook:path, $original:path;)+) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    "push rdi",
                    "push rsi",
                    "push rdx",
                    "push rcx",
                    "push r8",
                    "push r9",
                    "push rax", // the stack is now aligned
                    "call {choice}",
                    "mov r11d, eax",
                    "pop rax",
                    "pop r9",
                    "pop r8",
                    "pop rcx",
                    "pop rdx",
                    "pop rsi",
                    "pop rdi",
                    "test r11b, r11b",
                    "jnz {hook}",
                    "mov r11, qword ptr [rip + {original}]",
                    "jmp r11",
                    choice = sym $choice,
                    hook = sym $hook,
                    original = sym $original,
                )
            }
        )+
    };
}

/// Defines exported functions of two arguments that return what `answer` returns or, where that is null, jump to the
/// original, which sees the program as its caller.
macro_rules! answering_shims {
    ($($(#[$doc:meta])* $name:ident => $answer:path, $original:path;)+) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    "push rdi",
                    "push rsi",
                    "push rax", // the stack is now aligned
                    "call {answer}",
                    "pop rsi",
                    "pop rsi",
                    "pop rdi",
                    "test rax, rax",
                    "jnz 2f",
                    "mov r11, qword ptr [rip + {original}]",
                    "jmp r11",
                    "2:",
                    "ret",
                    answer = sym $answer,
                    original = sym $original,
                )
            }
        )+
    };
}

pub(crate) use {
    answering_shims, choosing_shims, passing_shims, redirected_passing_shims, redirected_shims, shims,
};
