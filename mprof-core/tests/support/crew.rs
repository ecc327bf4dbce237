//! Threads that do one thing after the other, each when it is told to.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use mprof_core::thread::Thread;

use super::{Made, allocate, reallocate, release};

enum Order {
    Allocate(usize, usize),
    Reallocate(usize, usize, usize),
    Free(usize),
    /// As at the end of a thread, when its other destructors still have something to free.
    Detach,
}

/// A thread of its own with its heap.
pub(crate) struct Worker {
    orders: Option<Sender<Order>>,
    done: Receiver<Option<Made>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    pub(crate) fn start() -> Worker {
        let (orders, todo) = channel();
        let (tell, done) = channel();
        let thread = std::thread::spawn(move || {
            for order in todo {
                let made = match order {
                    Order::Allocate(site, size) => Some(allocate(site, size)),
                    Order::Reallocate(site, object, size) => Some(reallocate(site, object, size)),
                    Order::Free(object) => {
                        release(object);
                        None
                    }
                    Order::Detach => {
                        Thread::detach();
                        None
                    }
                };
                tell.send(made).unwrap();
            }
            Thread::detach();
        });
        Worker { orders: Some(orders), done, thread: Some(thread) }
    }

    fn order(&self, order: Order) -> Option<Made> {
        self.orders.as_ref().unwrap().send(order).unwrap();
        self.done.recv().unwrap()
    }

    pub(crate) fn allocate(&self, site: usize, size: usize) -> Made {
        self.order(Order::Allocate(site, size)).unwrap()
    }

    pub(crate) fn reallocate(&self, site: usize, object: usize, size: usize) -> Made {
        self.order(Order::Reallocate(site, object, size)).unwrap()
    }

    pub(crate) fn free(&self, object: usize) {
        self.order(Order::Free(object));
    }

    pub(crate) fn detach(&self) {
        self.order(Order::Detach);
    }
}

impl Drop for Worker {
    /// The thread ends, and its heap is there for another.
    fn drop(&mut self) {
        self.orders = None;
        let result = self.thread.take().unwrap().join();
        assert!(result.is_ok() || std::thread::panicking());
    }
}
